import type { ServerRecord } from './contract.js'

/** What a row holds, and where. All that is known of a server lies in one cache line. */
export const Field = {
  /** Pages that are visited again. */
  pages: 0,
  /** L_i: visits a ms that they wish. */
  load: 1,
  /** The mean time of a download in ms; 0: not known. */
  download: 2,
  /** How many visits the means are of, as far as they count. */
  downloads: 3,
  /** The pause that it asked for; 0: none. */
  delay: 4,
  /** The mean of the logarithms of its pages' change intervals, and of how many. */
  habit: 5,
  habits: 6,
  /** The mean time for which visits hold their slot after the download. */
  held: 7,
} as const

export type Field = (typeof Field)[keyof typeof Field]

const ROW_SHIFT = 3
const SLAB_SHIFT = 13
const SLAB_ROWS = 2 ** SLAB_SHIFT

/**
 * Numbers by host name, for millions of hosts: objects would take three times the room, and each server's would lie
 * somewhere else. Memory grows by slabs, so nothing is ever copied; rows that are given up are used again.
 */
export class ServerTable {
  readonly #rows = new Map<string, number>()
  readonly #slabs: Float64Array[] = []
  readonly #free: number[] = []
  #used = 0

  get size(): number {
    return this.#rows.size
  }

  /** The row of a host; -1 if it has none. */
  find(host: string): number {
    return this.#rows.get(host) ?? -1
  }

  /** Gives a host that has none a row, all zeros. */
  add(host: string): number {
    const row = this.#free.pop() ?? this.#used++
    const slab = row >> SLAB_SHIFT
    if (slab === this.#slabs.length) this.#slabs.push(new Float64Array(SLAB_ROWS << ROW_SHIFT))
    const at = (row & (SLAB_ROWS - 1)) << ROW_SHIFT
    this.#slabs[slab]!.fill(0, at, at + (1 << ROW_SHIFT))
    this.#rows.set(host, row)
    return row
  }

  /** Gives the row of a host up. */
  delete(host: string): void {
    const row = this.#rows.get(host)
    if (row === undefined) return
    this.#rows.delete(host)
    this.#free.push(row)
  }

  read(row: number, field: Field): number {
    return this.#slabs[row >> SLAB_SHIFT]![((row & (SLAB_ROWS - 1)) << ROW_SHIFT) + field]!
  }

  write(row: number, field: Field, value: number): void {
    this.#slabs[row >> SLAB_SHIFT]![((row & (SLAB_ROWS - 1)) << ROW_SHIFT) + field] = value
  }

  /** A row as it is remembered. */
  record(row: number): ServerRecord {
    const delay = this.read(row, Field.delay)
    const habits = this.read(row, Field.habits)
    const held = this.read(row, Field.held)
    return {
      pages: this.read(row, Field.pages),
      load: this.read(row, Field.load),
      download: this.read(row, Field.download),
      ...(held > 0 ? { held } : {}),
      ...(delay > 0 ? { delay } : {}),
      ...(habits > 0 ? { habit: [this.read(row, Field.habit), habits] as const } : {}),
    }
  }

  /** Replaces a row by what was remembered. */
  fill(row: number, { pages, load, download, held, delay, habit }: ServerRecord): void {
    const habits = Number.isFinite(habit?.[0]) ? orZero(habit?.[1]) : 0
    this.write(row, Field.pages, orZero(pages))
    this.write(row, Field.load, pages > 0 ? orZero(load) : 0)
    this.write(row, Field.download, orZero(download))
    this.write(row, Field.held, download > 0 ? orZero(held) : 0)
    this.write(row, Field.downloads, 0)
    this.write(row, Field.delay, orZero(delay))
    this.write(row, Field.habit, habits > 0 ? habit![0] : 0)
    this.write(row, Field.habits, habits)
  }

  hosts(): Iterable<string> {
    return this.#rows.keys()
  }

  /** Hosts and their rows. */
  entries(): Iterable<[host: string, row: number]> {
    return this.#rows
  }
}

/** What comes from a store may be anything; one NaN in a sum would stay there for ever. */
export function orZero(value: number | undefined): number {
  return value !== undefined && value > 0 && value < Number.POSITIVE_INFINITY ? value : 0
}
