import type { CrawlRequest, MaybePromise } from '../../../types.js'
import type { Command, RedisClient } from '../client/contract.js'
import { readLine } from '../protocol/lines.js'
import type { Journal } from './journal.js'
import type { ServerTime } from './server-time.js'

/** Partitions whose letters are read with one round trip, and letters of each. */
const PARTITIONS_AT_ONCE = 64
const LETTERS_AT_ONCE = 50

export interface InboxParts {
  readonly client: RedisClient
  readonly key: string
  readonly journal: Journal
  readonly time: ServerTime
  owns(partition: number): boolean
  /** Letters of this commit were read. */
  hasRead(seq: number): void
  failed(error: unknown): void
  /** Called when everything that was noticed is read and handled. */
  idle(): void
}

/**
 * Requests that other nodes found for hosts of this one. They stay in Redis until the commit that stores them with their
 * host, so that they survive the death of either node.
 */
export class Inbox {
  readonly #parts: InboxParts
  /** Partitions with letters. Filled by `notice`, emptied by the reading loop. */
  readonly #noticed = new Set<number>()
  /** By partition: the first letter that was not read yet. */
  readonly #next = new Map<number, string>()
  #handler: ((requests: readonly CrawlRequest[]) => MaybePromise<void>) | undefined = undefined
  #isReading = false
  /** Changes when everything read so far is void. */
  #epoch = 0

  constructor(parts: InboxParts) {
    this.#parts = parts
  }

  /** Whether letters are being read or handled. */
  get isBusy(): boolean {
    return this.#isReading || this.#noticed.size > 0
  }

  receive(handler: (requests: readonly CrawlRequest[]) => MaybePromise<void>): void {
    this.#handler = handler
    this.#read()
  }

  /** There are letters in these partitions, among them some that are handled already. */
  notice(partitions: Iterable<number>): void {
    for (const partition of partitions) if (this.#parts.owns(partition)) this.#noticed.add(partition)
    this.#read()
  }

  /** The partitions are gone, or all are. */
  forget(partitions?: readonly number[]): void {
    if (partitions === undefined) {
      this.#epoch++
      this.#noticed.clear()
      this.#next.clear()
    } else {
      for (const partition of partitions) {
        this.#noticed.delete(partition)
        this.#next.delete(partition)
      }
    }
  }

  #read(): void {
    if (this.#isReading || this.#handler === undefined || this.#noticed.size === 0) return
    this.#isReading = true
    this.#readAll()
      .catch((error) => this.#parts.failed(error))
      .finally(() => {
        this.#isReading = false
        this.#parts.idle()
      })
  }

  async #readAll(): Promise<void> {
    const { client, key, journal, owns, hasRead } = this.#parts
    while (this.#noticed.size > 0) {
      const epoch = this.#epoch
      const partitions = [...this.#noticed].slice(0, PARTITIONS_AT_ONCE)
      const replies = await client.read(
        partitions.map(
          (each): Command => [
            ...(['XRANGE', `${key}:in:${each}`, this.#next.get(each) ?? '-', '+'] as const),
            ...(['COUNT', LETTERS_AT_ONCE] as const),
          ],
        ),
      )
      if (epoch !== this.#epoch) continue
      const letters = replies.map((reply) => reply as readonly (readonly [Buffer, readonly Buffer[]])[])
      const requests: CrawlRequest[] = []
      for (const [i, partition] of partitions.entries()) {
        if (letters[i]!.length < LETTERS_AT_ONCE) this.#noticed.delete(partition)
        for (const [letter, fields] of letters[i]!) {
          hasRead(Number.parseInt(letter.toString(), 10))
          requests.push(...this.#requestsIn(fields))
        }
      }
      if (requests.length > 0) await this.#handler!(requests)
      if (epoch !== this.#epoch) continue
      for (const [i, partition] of partitions.entries()) {
        const last = letters[i]!.at(-1)
        // What arrived for a partition that was given up meanwhile is its new owner's.
        if (last === undefined || !owns(partition)) continue
        const next = after(last[0].toString())
        this.#next.set(partition, next)
        journal.take(partition, next, letters[i]!.length)
      }
    }
  }

  /** `['r', line, 'r', line, …]` */
  #requestsIn(fields: readonly Buffer[]): CrawlRequest[] {
    const requests: CrawlRequest[] = []
    for (let i = 1; i < fields.length; i += 2) {
      const { request, at } = readLine(fields[i]!.toString())
      requests.push(at === undefined ? request : { ...request, notBefore: this.#parts.time.fromServer(at) })
    }
    return requests
  }
}

/** The ID after this one. */
function after(id: string): string {
  const [seq, i] = id.split('-')
  return `${seq}-${Number(i) + 1}`
}
