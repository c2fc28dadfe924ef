/**
 * Strings that own their memory. V8 implements slices and concatenations as pointers, so twenty characters cut from a page
 * keep the whole page alive. Strings that outlive their page, because they are stored or passed to the user, are copied by
 * one of these functions at that point and not earlier.
 */

/** V8 copies shorter slices anyway. */
const SHORTEST_CUT = 13

/** Copies a string: concatenating and slicing makes V8 write it to new memory. */
export function owned(text: string): string {
  return text.length < SHORTEST_CUT ? text : ` ${text}`.slice(1)
}

/** A noncharacter of Unicode: no page starts with it. */
const NO_CHARACTER = 0xffff

/**
 * Flattens a string that was just concatenated, without creating another one: reading a character makes V8 write the
 * string to new memory and drop its parts. The comparison keeps the compiler from removing the read.
 */
export function flat(joined: string): string {
  return joined.charCodeAt(0) === NO_CHARACTER ? owned(joined) : joined
}
