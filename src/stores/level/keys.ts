/**
 * Where things lie in the database. A key is text: a letter for the kind, the partition in four hexadecimal digits,
 * then what puts it in order. All that belongs to a partition can so be read, moved or removed by prefix.
 *
 *   p partition host NUL place      a pending request; places are in the order in which a host hands out
 *   l partition host NUL at seq     a pending request that is not due before `at`
 *   q partition due host            a host with requests: when it may be visited next, and what is known of it
 *   q partition due host NUL        the same host once more, to be woken earlier than its other entry says
 *   w partition host                a host that sleeps on disk until a request's own time: the key of its entry in q
 *   i partition host                a host without requests whose pause is not over
 *   s partition seq                 fingerprints of known names, in the order in which they became known
 *   f partition print               a page of sorted fingerprints, by the first of them
 *   b partition                     the filter over a partition's pages, and their number
 *   k partition space NUL key       a fact of a hook, or of the crawl
 *   j commit                        a mark for each of the last commits
 *   m                               counts and versions
 */

/** Enough for all instants until the year 5138, and for a sequence number of any crawl. */
const DIGITS = 9
const RADIX = 36
/** Below every character of a host, so that no host's keys lie between another's. */
export const NUL = '\0'
/** Above every character of a key. */
export const END = '\x7f'

export const META = 'm'

/** The partition as it stands in keys. */
export function partitionText(partition: number): string {
  return partition.toString(16).padStart(4, '0')
}

/** A whole number from 0 on, so that the order of texts is the order of numbers. */
export function ordered(value: number): string {
  return Math.max(0, Math.floor(value)).toString(RADIX).padStart(DIGITS, '0')
}

export function fromOrdered(text: string): number {
  return Number.parseInt(text.slice(0, DIGITS), RADIX)
}

/** All requests of a host that are due, and all that are not. */
export function duePrefix(partition: string, host: string): string {
  return `p${partition}${host}${NUL}`
}

export function laterPrefix(partition: string, host: string): string {
  return `l${partition}${host}${NUL}`
}

export function entryKey(partition: string, due: number, host: string): string {
  return `q${partition}${ordered(due)}${host}`
}

/** A second entry of a host, made to wake it. */
export function wakeKey(partition: string, due: number, host: string): string {
  return `${entryKey(partition, due, host)}${NUL}`
}

export function entryOf(key: string): { due: number; host: string; wakes: boolean } {
  const wakes = key.endsWith(NUL)
  return { due: fromOrdered(key.slice(5)), host: key.slice(5 + DIGITS, wakes ? -1 : undefined), wakes }
}

export function sleeperKey(partition: string, host: string): string {
  return `w${partition}${host}`
}

export function idleKey(partition: string, host: string): string {
  return `i${partition}${host}`
}

export function printsKey(partition: string, seq: number): string {
  return `s${partition}${ordered(seq)}`
}

export function printPageKey(partition: string, first: bigint): string {
  return `f${partition}${first.toString(16).padStart(16, '0')}`
}

export function filterKey(partition: string): string {
  return `b${partition}`
}

export function factPrefix(partition: string, space: string): string {
  return `k${partition}${space}${NUL}`
}

export function commitKey(commit: number): string {
  return `j${ordered(commit)}`
}

/**
 * The place of a request among those of its host: larger priority first, then what was handed out before, then first
 * come.
 */
export function placeOf(priority: number, again: boolean, seq: number): string {
  return `${rank(priority)}${again ? 0 : 1}${ordered(seq)}`
}

export function laterPlaceOf(at: number, seq: number): string {
  return `${ordered(at)}${ordered(seq)}`
}

const bits = new DataView(new ArrayBuffer(8))

/** Nearly all requests have priority 0, so that gets the shortest text. */
function rank(priority: number): string {
  if (priority === 0) return 'm'
  bits.setFloat64(0, Math.abs(priority))
  // For positive numbers the order of the bits is the order of the numbers; larger ones are to come first.
  const flip = priority > 0 ? 0xffffffff : 0
  return (priority > 0 ? 'g' : 't') + hex(bits.getUint32(0) ^ flip) + hex(bits.getUint32(4) ^ flip)
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0')
}
