import type { ServerRecord } from './contract.js'

/** The columns of a row. Everything about a server is in one cache line. */
export const Field = {
  /** Pages that are revisited. */
  pages: 0,
  /** L_i: their wanted visits per ms. */
  load: 1,
  /** Mean duration of a download in ms; 0: not known. */
  download: 2,
  /** Number of visits in the means, up to a limit. */
  downloads: 3,
  /** The delay that it requested; 0: none. */
  delay: 4,
  /** Mean of the logarithms of its pages' change intervals, and the number of values in the mean. */
  habit: 5,
  habits: 6,
  /** Mean time that visits hold their slot after the download. */
  held: 7,
} as const

export type Field = (typeof Field)[keyof typeof Field]

const ROW_SHIFT = 3
const SLAB_SHIFT = 13
const SLAB_ROWS = 2 ** SLAB_SHIFT

/**
 * Numbers by host name, for millions of hosts: objects would need three times the memory and be scattered. Memory grows
 * by slabs, so nothing is ever copied; freed rows are reused.
 */
export class ServerTable {
  readonly #rows = new Map<string, number>()
  readonly #slabs: Float64Array[] = []
  readonly #free: number[] = []
  #used = 0

  get size(): number {
    return this.#rows.size
  }

  /** The row of a host; -1 if there is none. */
  find(host: string): number {
    return this.#rows.get(host) ?? -1
  }

  /** Adds a row of zeros for a host that has none. */
  add(host: string): number {
    const row = this.#free.pop() ?? this.#used++
    const slab = row >> SLAB_SHIFT
    if (slab === this.#slabs.length) this.#slabs.push(new Float64Array(SLAB_ROWS << ROW_SHIFT))
    const at = (row & (SLAB_ROWS - 1)) << ROW_SHIFT
    this.#slabs[slab]!.fill(0, at, at + (1 << ROW_SHIFT))
    this.#rows.set(host, row)
    return row
  }

  /** Frees the row of a host. */
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

  /** A row as stored. */
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

  /** Replaces a row by a stored record. */
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

/** A store may return anything, and a NaN in a sum would stay there for ever. */
export function orZero(value: number | undefined): number {
  return value !== undefined && value > 0 && value < Number.POSITIVE_INFINITY ? value : 0
}
