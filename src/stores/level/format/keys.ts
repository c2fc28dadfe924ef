/**
 * The layout of the database. A key is text: a letter for the kind, the partition as four hexadecimal digits, then
 * whatever defines the order. So everything that belongs to a partition can be read, moved or removed by prefix.
 *
 *   p partition host NUL place      a pending request; places sort in the order in which the host's requests are leased
 *   l partition host NUL at seq     a pending request that is not due before `at`
 *   q partition due TURN turn host  a host with requests: when it may be visited next, and its state; among hosts that
 *                                   are due, first come, first served (before format 3: no turn)
 *   q partition due TURN turn host NUL  a second entry of the same host, which wakes it earlier than the other one
 *   w partition host                a host asleep on disk until one of its requests is due: the key of its entry in q
 *   v partition host                a host on disk got requests for later, which its entry in q does not say
 *   i partition host                a host without requests whose delay is not over
 *   s partition seq                 fingerprints of seen URLs, in the order in which they were added
 *   f partition print               a page of sorted fingerprints, by the first of them
 *   b partition                     the filter over a partition's pages, and the number of fingerprints
 *   k partition space NUL key       a record of a hook, or of the crawl
 *   n partition                     the counts of a partition that is moving from one writer to another
 *
 * What does not belong to a partition belongs to a *writer*: one thread that writes. Writer 0 is the thread that opened
 * the store; shards, if any, have the writers after it. A writer is written like a partition.
 *
 *   m, m writer                       meta of writer 0; of another writer
 *   j commit, y writer commit         a mark for each of the last commits of writer 0; of another writer
 *   x writer batch                    a batch that was sent to another shard, which may not have stored it yet
 */

/** Names of the kinds, for messages. */
const KINDS: Readonly<Record<string, string>> = {
  p: 'a pending request',
  l: 'a pending request',
  q: 'the state of a host',
  w: 'the state of a host',
  v: 'the state of a host',
  i: 'the state of a host',
  s: 'a list of seen URLs',
  f: 'a list of seen URLs',
  b: 'a list of seen URLs',
  k: 'a record of a hook or of the crawl',
  n: 'the counts of a partition',
  m: 'the counts of the crawl',
  x: 'a batch of links',
}

/** The kind of a key, in words. */
export function kindOf(key: string): string {
  return KINDS[key[0] ?? ''] ?? 'a record'
}

/** Enough for all instants until the year 5138, and for the sequence numbers of any crawl. */
const DIGITS = 9
const RADIX = 36
const LARGEST = RADIX ** DIGITS - 1
/** Sorts before every character of a host, so that keys of different hosts never interleave. */
export const NUL = '\0'
/** Precedes a turn; no host starts with it. */
const TURN = '\x01'
/** Sorts after every character of a key. */
export const END = '\x7f'

/** The writer of the thread that opens the store, alone or before its shards. */
export const FIRST_WRITER = 0

/** Meta of the whole store, and of writer 0. */
export const META = 'm'

/** The partition, or the writer, as written in keys. */
export function partitionText(partition: number): string {
  return partition.toString(16).padStart(4, '0')
}

export function partitionIn(key: string): number {
  return Number.parseInt(key.slice(1, 5), 16)
}

/** The ranges of all keys of a kind that belong to these partitions, ascending. Adjacent partitions share a range. */
export function rangesOf(kind: string, partitions: readonly number[]): { from: string; to: string }[] {
  const ranges: { from: string; to: string }[] = []
  for (let i = 0; i < partitions.length; ) {
    let last = i
    while (partitions[last + 1] === partitions[last]! + 1) last++
    const from = `${kind}${partitionText(partitions[i]!)}`
    ranges.push({ from, to: `${kind}${partitionText(partitions[last]!)}${END}` })
    i = last + 1
  }
  return ranges
}

/** A non-negative integer as text that sorts like the number. Larger numbers than fit are written as the largest. */
export function ordered(value: number): string {
  return Math.min(Math.max(0, Math.floor(value)), LARGEST)
    .toString(RADIX)
    .padStart(DIGITS, '0')
}

export function fromOrdered(text: string): number {
  return Number.parseInt(text.slice(0, DIGITS), RADIX)
}

/** Prefixes of all requests of a host that are due, and of all that are scheduled for later. */
export function duePrefix(partition: string, host: string): string {
  return `p${partition}${host}${NUL}`
}

export function laterPrefix(partition: string, host: string): string {
  return `l${partition}${host}${NUL}`
}

/** The host in a request's key. */
export function hostIn(key: string): string {
  return key.slice(5, key.indexOf(NUL))
}

/** `turn`: a number that increases from host to host, so that hosts due at the same instant keep their order. */
export function entryKey(partition: string, due: number, host: string, turn = 0): string {
  return `q${partition}${ordered(due)}${TURN}${ordered(turn)}${host}`
}

/** A second entry of a host, which wakes it. */
export function wakeKey(partition: string, due: number, host: string, turn = 0): string {
  return `${entryKey(partition, due, host, turn)}${NUL}`
}

const DUE_END = 5 + DIGITS
const TURN_END = DUE_END + 1 + DIGITS

export function entryOf(key: string): { due: number; host: string; wakes: boolean } {
  const wakes = key.endsWith(NUL)
  const start = hasTurn(key) ? TURN_END : DUE_END
  return { due: fromOrdered(key.slice(5)), host: key.slice(start, wakes ? -1 : undefined), wakes }
}

/** 0 for an entry written by an earlier format. */
export function turnIn(key: string): number {
  return hasTurn(key) ? fromOrdered(key.slice(DUE_END + 1)) : 0
}

function hasTurn(key: string): boolean {
  return key[DUE_END] === TURN
}

export function sleeperKey(partition: string, host: string): string {
  return `w${partition}${host}`
}

export function laterMarkKey(partition: string, host: string): string {
  return `v${partition}${host}`
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

export function recordPrefix(partition: string, space: string): string {
  return `k${partition}${space}${NUL}`
}

export function metaKey(writer: number): string {
  return writer === FIRST_WRITER ? META : `${META}${partitionText(writer)}`
}

/** The metas of all writers but the first. */
export const WRITERS = { from: 'm0', to: 'n' } as const

export function moveKey(partition: number): string {
  return `n${partitionText(partition)}`
}

export const MOVES = { from: 'n', to: 'o' } as const

export function commitKey(writer: number, commit: number): string {
  return writer === FIRST_WRITER ? `j${ordered(commit)}` : `y${partitionText(writer)}${ordered(commit)}`
}

/** The commit marks of the first writer, and of all others. */
export const MARKS = [
  { from: 'j', to: 'k' },
  { from: 'y', to: 'z' },
] as const

export function markIn(key: string): { writer: number; commit: number } {
  if (key.startsWith('j')) return { writer: FIRST_WRITER, commit: fromOrdered(key.slice(1)) }
  return { writer: partitionIn(key), commit: fromOrdered(key.slice(5)) }
}

export function outboxKey(writer: number, batch: number): string {
  return `x${partitionText(writer)}${ordered(batch)}`
}

export const OUTBOXES = { from: 'x', to: 'y' } as const

export function batchIn(key: string): { writer: number; batch: number } {
  return { writer: partitionIn(key), batch: fromOrdered(key.slice(5)) }
}

/**
 * The position of a request among those of its host: higher priority first, then requests that were leased before, then
 * first come, first served.
 */
export function placeOf(priority: number, again: boolean, seq: number): string {
  return `${rank(priority)}${again ? 0 : 1}${ordered(seq)}`
}

export function laterPlaceOf(at: number, seq: number): string {
  return `${ordered(at)}${ordered(seq)}`
}

const bits = new DataView(new ArrayBuffer(8))

/** Nearly all requests have priority 0, so it gets the shortest text. */
function rank(priority: number): string {
  if (priority === 0) return 'm'
  bits.setFloat64(0, Math.abs(priority))
  // For positive numbers the bits sort like the numbers. Higher priorities must sort first.
  const flip = priority > 0 ? 0xffffffff : 0
  return (priority > 0 ? 'g' : 't') + hex(bits.getUint32(0) ^ flip) + hex(bits.getUint32(4) ^ flip)
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0')
}
