import type { StateSpace, StateStore } from '../../contract.js'
import type { RedisClient } from '../client/contract.js'
import { CRAWL_RECORDS, type Journal } from '../session/journal.js'
import { checkSpace, escaped, fieldOf, nameIn, prefixOf } from './fields.js'

const SCAN_COUNT = '500'

export interface RedisStateParts {
  readonly client: RedisClient
  /** Prefix of the crawl's keys. */
  readonly key: string
  readonly journal: Journal
  partitionOf(host: string): number
  /** Resolves when what was put so far is in Redis. */
  flush(): Promise<void>
}

/**
 * Records of a crawl. Those of hosts are in memory, with the partition of the host. Those of the crawl itself belong to all
 * nodes and are read from Redis each time.
 */
export class RedisState implements StateStore {
  readonly #parts: RedisStateParts
  /** By partition, then by field. */
  readonly #hosts = new Map<number, Map<string, string>>()
  readonly #spaces = new Map<string, StateSpace>()

  constructor(parts: RedisStateParts) {
    this.#parts = parts
  }

  space(name: string): StateSpace {
    checkSpace(name)
    let space = this.#spaces.get(name)
    if (space === undefined) {
      space = new RedisSpace(this.#parts, this.#hosts, name)
      this.#spaces.set(name, space)
    }
    return space
  }

  adopt(partition: number, fields: Iterable<readonly [field: string, json: string]>): void {
    this.#hosts.set(partition, new Map(fields))
  }

  release(partition: number): void {
    this.#hosts.delete(partition)
  }

  dropAll(): void {
    this.#hosts.clear()
  }
}

class RedisSpace implements StateSpace {
  readonly #parts: RedisStateParts
  readonly #hosts: ReadonlyMap<number, Map<string, string>>
  readonly #prefix: string

  constructor(parts: RedisStateParts, hosts: ReadonlyMap<number, Map<string, string>>, name: string) {
    this.#parts = parts
    this.#hosts = hosts
    this.#prefix = prefixOf(name)
  }

  get(key: string, host?: string): unknown {
    if (host === undefined) return this.#getShared(key)
    const json = this.#hosts.get(this.#parts.partitionOf(host))?.get(fieldOf(this.#prefix, key, host))
    return json === undefined ? undefined : JSON.parse(json)
  }

  put(key: string, value: unknown, host?: string): void {
    this.#write(key, host, JSON.stringify(value ?? null))
  }

  delete(key: string, host?: string): void {
    this.#write(key, host, null)
  }

  async *entries(): AsyncGenerator<readonly [key: string, value: unknown]> {
    const { client, key, flush } = this.#parts
    const found: [string, string][] = []
    for (const fields of this.#hosts.values()) {
      for (const [field, json] of fields) if (field.startsWith(this.#prefix)) found.push([field, json])
    }
    await flush()
    for (const [field, json] of found) yield [nameIn(field), JSON.parse(json)]
    const seen = new Set<string>()
    for (let cursor = '0'; ; ) {
      const [reply] = await client.read([
        ['HSCAN', key + CRAWL_RECORDS, cursor, 'MATCH', `${escaped(this.#prefix)}*`, 'COUNT', SCAN_COUNT],
      ])
      const [next, pairs] = reply as [Buffer, Buffer[]]
      for (let i = 0; i < pairs.length; i += 2) {
        const field = pairs[i]!.toString()
        // A scan may return a field twice.
        if (seen.has(field)) continue
        seen.add(field)
        yield [nameIn(field), JSON.parse(pairs[i + 1]!.toString())]
      }
      cursor = next.toString()
      if (cursor === '0') return
    }
  }

  *ofPartitions(partitions: readonly number[]): Generator<readonly [key: string, value: unknown]> {
    for (const partition of partitions) {
      for (const [field, json] of this.#hosts.get(partition) ?? [])
        if (field.startsWith(this.#prefix)) yield [nameIn(field), JSON.parse(json)]
    }
  }

  async #getShared(key: string): Promise<unknown> {
    const { client, journal, key: prefix } = this.#parts
    const field = fieldOf(this.#prefix, key, undefined)
    const staged = journal.recorded(CRAWL_RECORDS, field)
    if (staged === null) return undefined
    if (staged !== undefined) return JSON.parse(staged)
    const [json] = await client.read([['HGET', prefix + CRAWL_RECORDS, field]])
    return json === null ? undefined : JSON.parse((json as Buffer).toString())
  }

  #write(key: string, host: string | undefined, json: string | null): void {
    const { journal, partitionOf } = this.#parts
    const field = fieldOf(this.#prefix, key, host)
    if (host === undefined) {
      journal.record(CRAWL_RECORDS, field, json)
      return
    }
    const partition = partitionOf(host)
    const fields = this.#hosts.get(partition)
    // The host belongs to another node, and so do its records.
    if (fields === undefined) return
    if (json === null) fields.delete(field)
    else fields.set(field, json)
    journal.record(`:k:${partition}`, field, json)
  }
}
