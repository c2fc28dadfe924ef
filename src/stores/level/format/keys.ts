/**
 * Where things lie in the database. A key is text: a letter for the kind, the partition in four hexadecimal digits,
 * then what puts it in order. All that belongs to a partition can so be read, moved or removed by prefix.
 *
 *   p partition host NUL place      a pending request; places are in the order in which a host hands out
 *   l partition host NUL at seq     a pending request that is not due before `at`
 *   q partition due TURN turn host  a host with requests: when it may be visited next, and what is known of it; of hosts
 *                                   that are due at once, who came first goes first (stores before format 3: no turn)
 *   q partition due TURN turn host NUL  the same host once more, to be woken earlier than its other entry says
 *   w partition host                a host that sleeps on disk until a request's own time: the key of its entry in q
 *   i partition host                a host without requests whose pause is not over
 *   s partition seq                 fingerprints of known names, in the order in which they became known
 *   f partition print               a page of sorted fingerprints, by the first of them
 *   b partition                     the filter over a partition's pages, and their number
 *   k partition space NUL key       a fact of a hook, or of the crawl
 *   n partition                     what a partition holds that is on its way from one writer to another
 *
 * What is not of a partition is of a *writer*: of one thread that writes. Writer 0 is the thread that opened the store; those
 * of the shards, if there are any, are the writers after it. A writer is written like a partition.
 *
 *   m, m writer                       counts and versions of writer 0; of another writer
 *   j commit, y writer commit         a mark for each of the last commits of writer 0; of another writer
 *   x writer batch                    a batch that was sent to another shard, which may not have it for good
 */

/** Letters of kinds in words, for messages. */
const KINDS: Readonly<Record<string, string>> = {
  p: 'a pending request',
  l: 'a pending request',
  q: 'the state of a host',
  w: 'the state of a host',
  i: 'the state of a host',
  s: 'a list of known URLs',
  f: 'a list of known URLs',
  b: 'a list of known URLs',
  k: 'a fact of a hook or of the crawl',
  n: 'the counts of a partition',
  m: 'the counts of the crawl',
  x: 'a batch of links',
}

/** What a key is the key of. */
export function kindOf(key: string): string {
  return KINDS[key[0] ?? ''] ?? 'a record'
}

/** Enough for all instants until the year 5138, and for a sequence number of any crawl. */
const DIGITS = 9
const RADIX = 36
/** Below every character of a host, so that no host's keys lie between another's. */
export const NUL = '\0'
/** Before a turn: no host begins with it. */
const TURN = '\x01'
/** Above every character of a key. */
export const END = '\x7f'

/** The writer of the thread that opens the store, alone or before its shards. */
export const FIRST_WRITER = 0

/** Counts of the store as a whole, and of writer 0. */
export const META = 'm'

/** The partition, or the writer, as it stands in keys. */
export function partitionText(partition: number): string {
  return partition.toString(16).padStart(4, '0')
}

export function partitionIn(key: string): number {
  return Number.parseInt(key.slice(1, 5), 16)
}

/** Where all keys of a kind lie that belong to these partitions, ascending: neighbours are one range. */
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

/** The host of a request by its key. */
export function hostIn(key: string): string {
  return key.slice(5, key.indexOf(NUL))
}

/** `turn`: a number that grows from host to host, so that those due at one instant stay in the order in which they came. */
export function entryKey(partition: string, due: number, host: string, turn = 0): string {
  return `q${partition}${ordered(due)}${TURN}${ordered(turn)}${host}`
}

/** A second entry of a host, made to wake it. */
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

/** 0 for an entry that an earlier format wrote. */
export function turnIn(key: string): number {
  return hasTurn(key) ? fromOrdered(key.slice(DUE_END + 1)) : 0
}

function hasTurn(key: string): boolean {
  return key[DUE_END] === TURN
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

/** The marks of the first writer, and of all others. */
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
