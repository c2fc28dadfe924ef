import { KumoError } from '../../errors.js'
import type { StateSpace, StateStore } from '../contract.js'
import type { Database } from './db/database.js'
import type { Journal } from './db/journal.js'
import { NUL, partitionText, recordPrefix } from './format/keys.js'

export interface LevelStateParts {
  readonly database: Database
  /** Absent: read-only. */
  readonly journal?: Journal
  readonly partitions: number
  partitionOf(host: string): number
  /** Whether this thread has the records of a partition's hosts. Absent: it has all. */
  owns?(partition: number): boolean
  /** Called with the partition of a host before one of its records is written. */
  touched?(partition: number): void
}

/** The first key after those of all records. */
const AFTER_RECORDS = 'l'

/** Records that belong to no host are stored in the first partition. */
const NO_HOST_PARTITION = 0

/** Records on disk. Recent writes are still in the journal and are read from there. */
export function levelState(parts: LevelStateParts): StateStore {
  const spaces = new Map<string, StateSpace>()
  return {
    space(name) {
      let space = spaces.get(name)
      if (space === undefined) {
        space = new LevelSpace(parts, name)
        spaces.set(name, space)
      }
      return space
    },
  }
}

function readRecord(record: string): unknown {
  return JSON.parse(record)
}

class LevelSpace implements StateSpace {
  readonly #parts: LevelStateParts
  readonly #name: string

  constructor(parts: LevelStateParts, name: string) {
    if (name.includes(NUL)) {
      throw new KumoError(
        'KUMO_INVALID_OPTION',
        `the name of a state space must not contain NUL: ${JSON.stringify(name)}`,
      )
    }
    this.#parts = parts
    this.#name = name
  }

  async get(key: string, host?: string): Promise<unknown> {
    const { journal, database } = this.#parts
    if (this.#isElsewhere(host)) return undefined
    const at = this.#keyOf(key, host)
    const staged = journal?.staged(at)
    const record = staged === undefined ? await database.get(at) : staged
    return record === undefined || record === null
      ? undefined
      : database.decode(at, readRecord, record as string)
  }

  put(key: string, value: unknown, host?: string): void {
    this.#write(key, host, JSON.stringify(value ?? null))
  }

  delete(key: string, host?: string): void {
    this.#write(key, host, null)
  }

  #write(key: string, host: string | undefined, record: string | null): void {
    const { journal, touched, partitionOf } = this.#parts
    if (this.#isElsewhere(host)) return
    journal?.put(this.#keyOf(key, host), record)
    if (host !== undefined) touched?.(partitionOf(host))
  }

  /** Partition by partition, skipping those without records of this namespace. */
  async *entries(): AsyncGenerator<readonly [key: string, value: unknown]> {
    const { journal, database, partitions } = this.#parts
    await journal?.flush()
    for (let partition = 0; partition < partitions; ) {
      const prefix = recordPrefix(partitionText(partition), this.#name)
      const to = `${prefix.slice(0, -1)}\x01`
      for await (const entries of database.scan({ from: prefix, to })) {
        for (const [key, record] of entries) {
          const name = key.slice(prefix.length)
          yield [name.slice(name.indexOf(NUL) + 1), database.decode(key, readRecord, record)]
        }
      }
      const next = await database.read({ from: to, to: AFTER_RECORDS, limit: 1 })
      if (next.length === 0) return
      const there = Number.parseInt(next[0]![0].slice(1, 5), 16)
      partition = Math.max(there, partition + 1)
    }
  }

  /** The host's partition, and its records with it, belongs to another thread. */
  #isElsewhere(host: string | undefined): boolean {
    const { owns, partitionOf } = this.#parts
    return host !== undefined && owns !== undefined && !owns(partitionOf(host))
  }

  #keyOf(key: string, host: string | undefined): string {
    const partition = host === undefined ? NO_HOST_PARTITION : this.#parts.partitionOf(host)
    return `${recordPrefix(partitionText(partition), this.#name)}${host ?? ''}${NUL}${key}`
  }
}
