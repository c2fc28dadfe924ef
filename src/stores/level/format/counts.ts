/**
 * What the partitions of a writer hold, recorded per partition, so that a crawl stored by several threads can be opened
 * by any number of them.
 */

/** What one partition holds. */
export interface PartitionCount {
  readonly partition: number
  /** Pending requests, including leased ones. */
  readonly pending: number
  /** URLs in the seen-set whose request is or was pending. */
  readonly known: number
}

const ENTRY_END = ','
const FIELD_END = ' '

/**
 * Counts by partition. Updated by the frontier and the seen-set; written with every commit, in the same commit as what
 * they count. At any time they are in one place on disk: in the meta of the writer that owns the partition or, while
 * the partition moves between writers, in a record of its own.
 */
export class Counts {
  readonly #pending: Float64Array
  readonly #known: Float64Array
  readonly #owned: Uint8Array
  #totalPending = 0
  #totalKnown = 0

  /** `partitions` is the total number, whatever their owner. */
  constructor(partitions: number) {
    this.#pending = new Float64Array(partitions)
    this.#known = new Float64Array(partitions)
    this.#owned = new Uint8Array(partitions)
  }

  /** Pending requests in all partitions of this writer, including leased ones. */
  get pending(): number {
    return this.#totalPending
  }

  get known(): number {
    return this.#totalKnown
  }

  /** The partitions of this writer, ascending. */
  get partitions(): number[] {
    const owned: number[] = []
    for (let i = 0; i < this.#owned.length; i++) if (this.#owned[i] === OWNED) owned.push(i)
    return owned
  }

  owns(partition: number): boolean {
    return this.#owned[partition] === OWNED
  }

  /** This writer owns the partition from now on. */
  own({ partition, pending, known }: PartitionCount): void {
    this.#owned[partition] = OWNED
    this.#pending[partition] = pending
    this.#known[partition] = known
    this.#totalPending += pending
    this.#totalKnown += known
  }

  /** This writer no longer owns the partition. Returns what it held. */
  disown(partition: number): PartitionCount {
    const count = this.of(partition)
    this.#owned[partition] = 0
    this.#pending[partition] = 0
    this.#known[partition] = 0
    this.#totalPending -= count.pending
    this.#totalKnown -= count.known
    return count
  }

  of(partition: number): PartitionCount {
    return { partition, pending: this.#pending[partition]!, known: this.#known[partition]! }
  }

  /** A request has become pending. */
  added(partition: number): void {
    this.#pending[partition]!++
    this.#totalPending++
  }

  /** A request is done. */
  removed(partition: number): void {
    this.#pending[partition]!--
    this.#totalPending--
  }

  learned(partition: number): void {
    this.#known[partition]!++
    this.#totalKnown++
  }

  /** Corrects the count of seen URLs downwards. */
  forgot(partition: number, known: number): void {
    this.#known[partition]! -= known
    this.#totalKnown -= known
  }

  /** All counts as text, except empty partitions and those that are written elsewhere. */
  write(isElsewhere: (partition: number) => boolean): string {
    let text = ''
    for (let i = 0; i < this.#owned.length; i++) {
      const [pending, known] = [this.#pending[i]!, this.#known[i]!]
      if (this.#owned[i] !== OWNED || (pending === 0 && known === 0) || isElsewhere(i)) continue
      text += entry(i, pending, known)
    }
    return text
  }
}

const OWNED = 1

function entry(partition: number, pending: number, known: number): string {
  return `${partition}${FIELD_END}${pending}${FIELD_END}${known}${ENTRY_END}`
}

export function writeCounts(counts: Iterable<PartitionCount>): string {
  let text = ''
  for (const { partition, pending, known } of counts) text += entry(partition, pending, known)
  return text
}

export function totalOf(counts: readonly PartitionCount[], field: 'pending' | 'known'): number {
  return counts.reduce((sum, count) => sum + count[field], 0)
}

/** Reads what `write` has written. */
export function readCounts(text: string): PartitionCount[] {
  return text
    .split(ENTRY_END)
    .slice(0, -1)
    .map((entry) => {
      const numbers = entry.split(FIELD_END).map(Number)
      return checkedCount(numbers[0], numbers[1], numbers[2])
    })
}

/** A partition in transit: what it holds, and a number greater than that of any of its requests. */
export interface MoveRecord extends PartitionCount {
  readonly seq: number
}

export function writeMove({ pending, known, seq }: MoveRecord): string {
  return JSON.stringify([pending, known, seq])
}

export function readMove(partition: number, record: string): MoveRecord {
  const [pending, known, seq] = JSON.parse(record) as [number, number, number]
  return { ...checkedCount(partition, pending, known), seq }
}

function checkedCount(partition = Number.NaN, pending = Number.NaN, known = Number.NaN): PartitionCount {
  if (![partition, pending, known].every(Number.isInteger)) throw new Error('not a count')
  return { partition, pending, known }
}
