import { KumoError } from '../../errors.js'
import type { StateSpace, StateStore } from '../contract.js'
import type { Database } from './db/database.js'
import type { Journal } from './db/journal.js'
import { factPrefix, NUL, partitionText } from './format/keys.js'

export interface LevelStateParts {
  readonly database: Database
  /** Absent: nothing is put. */
  readonly journal?: Journal
  readonly partitions: number
  partitionOf(host: string): number
  /** Whether it has the facts of a partition's hosts. Absent: of all. */
  owns?(partition: number): boolean
  /** Told the partition of a host of which a fact is about to be written. */
  touched?(partition: number): void
}

/** Behind the keys of all facts. */
const AFTER_FACTS = 'l'

/** Facts of no host lie in the first partition. */
const NOWHERE = 0

/** Facts on disk. What was put lately is in the journal, and is found there. */
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

function readFact(fact: string): unknown {
  return JSON.parse(fact)
}

class LevelSpace implements StateSpace {
  readonly #parts: LevelStateParts
  readonly #name: string

  constructor(parts: LevelStateParts, name: string) {
    if (name.includes(NUL)) {
      throw new KumoError(
        'KUMO_INVALID_OPTION',
        `the name of a space of facts contains a NUL: ${JSON.stringify(name)}`,
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
    const fact = staged === undefined ? await database.get(at) : staged
    return fact === undefined || fact === null ? undefined : database.decode(at, readFact, fact as string)
  }

  put(key: string, value: unknown, host?: string): void {
    this.#write(key, host, JSON.stringify(value ?? null))
  }

  delete(key: string, host?: string): void {
    this.#write(key, host, null)
  }

  #write(key: string, host: string | undefined, fact: string | null): void {
    const { journal, touched, partitionOf } = this.#parts
    if (this.#isElsewhere(host)) return
    journal?.put(this.#keyOf(key, host), fact)
    if (host !== undefined) touched?.(partitionOf(host))
  }

  /** Partition by partition; those without facts of this space are leapt over. */
  async *entries(): AsyncGenerator<readonly [key: string, value: unknown]> {
    const { journal, database, partitions } = this.#parts
    await journal?.flush()
    for (let partition = 0; partition < partitions; ) {
      const prefix = factPrefix(partitionText(partition), this.#name)
      const to = `${prefix.slice(0, -1)}\x01`
      for await (const entries of database.scan({ from: prefix, to })) {
        for (const [key, fact] of entries) {
          const name = key.slice(prefix.length)
          yield [name.slice(name.indexOf(NUL) + 1), database.decode(key, readFact, fact)]
        }
      }
      const next = await database.read({ from: to, to: AFTER_FACTS, limit: 1 })
      if (next.length === 0) return
      const there = Number.parseInt(next[0]![0].slice(1, 5), 16)
      partition = Math.max(there, partition + 1)
    }
  }

  /** The host's facts are with its partition, which another thread has. */
  #isElsewhere(host: string | undefined): boolean {
    const { owns, partitionOf } = this.#parts
    return host !== undefined && owns !== undefined && !owns(partitionOf(host))
  }

  #keyOf(key: string, host: string | undefined): string {
    const partition = host === undefined ? NOWHERE : this.#parts.partitionOf(host)
    return `${factPrefix(partitionText(partition), this.#name)}${host ?? ''}${NUL}${key}`
  }
}
