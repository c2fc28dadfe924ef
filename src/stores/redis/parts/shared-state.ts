import type { StateSpace, StateStore } from '../../contract.js'
import type { Command, RedisClient } from '../client/contract.js'
import { type Operation, packOperations } from '../protocol/operations.js'
import { RECORD } from '../protocol/scripts.js'
import { CRAWL_RECORDS } from '../session/journal.js'
import type { Place } from '../session/places.js'
import { checkSpace, escaped, fieldOf, nameIn, pairsIn, prefixOf } from './fields.js'

const SCAN_COUNT = '500'
/** Records that one script writes. */
const RECORDS_AT_ONCE = 500

export interface SharedStateParts {
  readonly client: RedisClient
  /** Prefix of the crawl's keys. */
  readonly key: string
  partitionOf(host: string): number
  /** The members of the crawl that the worker threads of this process are. */
  members(): readonly Place[]
  /** Resolves after a moment, if the error is one that passes; rejects with it otherwise. */
  retry(error: unknown): Promise<void>
}

/** Where a record is: the key of its hash, and the field. `partition` is '' for records of the crawl. */
interface Where {
  readonly partition: string
  readonly field: string
}

/**
 * Records for hooks in the thread that started the workers. It owns no hosts, so it reads from Redis each time, and writes
 * through a script that asks whether one of the workers owns the host. What was put is there after `flush`, which comes
 * before the page is settled.
 */
export class SharedState implements StateStore {
  readonly #parts: SharedStateParts
  /** By place. Filled by `put`, emptied by `flush` once it is in Redis. */
  readonly #staged = new Map<string, Where & { readonly json: string | null }>()
  #flushing: Promise<void> = Promise.resolve()

  constructor(parts: SharedStateParts) {
    this.#parts = parts
  }

  space(name: string): StateSpace {
    checkSpace(name)
    const prefix = prefixOf(name)
    const at = (key: string, host: string | undefined): Where => ({
      partition: host === undefined ? '' : String(this.#parts.partitionOf(host)),
      field: fieldOf(prefix, key, host),
    })
    return {
      get: (key, host) => this.#get(at(key, host)),
      put: (key, value, host) => this.#stage(at(key, host), JSON.stringify(value ?? null)),
      delete: (key, host) => this.#stage(at(key, host), null),
      entries: () => this.#entries(prefix),
    }
  }

  flush(): Promise<void> {
    const flushed = this.#flushing.then(() => this.#writeAll())
    this.#flushing = flushed.catch(() => {})
    return flushed
  }

  #stage({ partition, field }: Where, json: string | null): void {
    this.#staged.set(`${partition}:${field}`, { partition, field, json })
  }

  async #get({ partition, field }: Where): Promise<unknown> {
    const staged = this.#staged.get(`${partition}:${field}`)
    if (staged !== undefined) return staged.json === null ? undefined : JSON.parse(staged.json)
    const [json] = await this.#parts.client.read([['HGET', this.#recordsOf(partition), field]])
    return json === null ? undefined : JSON.parse((json as Buffer).toString())
  }

  async #writeAll(): Promise<void> {
    const { client, key, members, retry } = this.#parts
    while (this.#staged.size > 0) {
      const some = [...this.#staged].slice(0, RECORDS_AT_ONCE)
      const operations = some.map(
        ([, { partition, field, json }]): Operation => [partition, field, ...(json === null ? [] : [json])],
      )
      const ids = members().flatMap(({ id, token }) => [id, token])
      try {
        await client.run(RECORD, key, [packOperations(operations), ...ids])
      } catch (error) {
        await retry(error)
        continue
      }
      // What was put again meanwhile is still to be written.
      for (const [name, record] of some) if (this.#staged.get(name) === record) this.#staged.delete(name)
    }
  }

  /** All records of the crawl, and those of hosts that the workers own. */
  async *#entries(prefix: string): AsyncGenerator<readonly [key: string, value: unknown]> {
    const { client, key, members } = this.#parts
    await this.flush()
    const ids = new Set(members().map(({ id }) => id))
    const [owned] = await client.read([['HGETALL', `${key}:own`]])
    const mine = [...pairsIn(owned as Buffer[])].filter(([, owner]) => ids.has(owner))
    for (const records of ['', ...mine.map(([partition]) => partition)]) {
      const seen = new Set<string>()
      for (let cursor = '0'; ; ) {
        const scan: Command = ['HSCAN', this.#recordsOf(records), cursor, 'MATCH', `${escaped(prefix)}*`]
        const [reply] = await client.read([[...scan, 'COUNT', SCAN_COUNT]])
        const [next, pairs] = reply as [Buffer, Buffer[]]
        for (const [field, json] of pairsIn(pairs)) {
          // A scan may return a field twice.
          if (seen.has(field)) continue
          seen.add(field)
          yield [nameIn(field), JSON.parse(json)]
        }
        cursor = next.toString()
        if (cursor === '0') break
      }
    }
  }

  #recordsOf(partition: string): string {
    return `${this.#parts.key}${CRAWL_RECORDS}${partition === '' ? '' : `:${partition}`}`
  }
}
