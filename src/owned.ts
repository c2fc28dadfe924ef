/**
 * Text in memory of its own. V8 cuts a string by pointing into it and joins two by pointing at both, so that twenty
 * characters of a page keep all of it alive for as long as they live. What outlives its page, because it is stored or
 * handed to the user, is therefore copied by one of these, when it is handed over and not before.
 */

/** Characters. V8 points only for the sake of so many, and copies fewer by itself. */
const SHORTEST_CUT = 13

/** A copy of a piece of text: joining and cutting makes V8 write it down once more. */
export function owned(text: string): string {
  return text.length < SHORTEST_CUT ? text : ` ${text}`.slice(1)
}

/** No page begins with it: Unicode promises never to use it. */
const NO_CHARACTER = 0xffff

/**
 * The same for text that was just joined, without another string: reading a character makes V8 write it down and drop
 * the parts. The comparison is there so that no compiler can leave the reading out.
 */
export function flat(joined: string): string {
  return joined.charCodeAt(0) === NO_CHARACTER ? owned(joined) : joined
}
