import type { StateSpace } from '../../stores/contract.js'
import type { DeadLetter, SinkItem } from './contract.js'

const PREFIX = 'dead '

/** As it is stored, by the page's id: a page has one letter at most, the latest. */
interface StoredLetter {
  readonly url: string
  readonly change: SinkItem['change']
  readonly record: unknown
  readonly reason: string
  readonly rejected: boolean
}

/**
 * Pages that could not be written, in the crawl's store. Filled when a batch is given up or an item rejected; emptied when
 * the page is written after all. Never contains more than `most`.
 */
export class DeadLetters<Item> {
  readonly #state: StateSpace
  readonly #most: number
  /** By id: whether the sink rejected the item itself, so that trying again in this run is useless. */
  readonly #known = new Map<string, boolean>()

  constructor(state: StateSpace, most: number) {
    this.#state = state
    this.#most = most
  }

  /** Reads which there are. Letters that were rejected by an earlier run get another chance. */
  async open(): Promise<void> {
    for await (const [key] of this.#state.entries()) {
      if (key.startsWith(PREFIX)) this.#known.set(key.slice(PREFIX.length), false)
    }
  }

  get size(): number {
    return this.#known.size
  }

  /** Returns false if there is no room. */
  put({ id, url, change, record, reason }: DeadLetter<Item>, rejected: boolean): boolean {
    if (!this.#known.has(id) && this.#known.size >= this.#most) return false
    this.#known.set(id, rejected)
    this.#state.put(PREFIX + id, { url, change, record, reason, rejected } satisfies StoredLetter)
    return true
  }

  /** A page was written, so that an older version of it must not be written any more. */
  remove(id: string): void {
    if (this.#known.size > 0 && this.#known.delete(id)) this.#state.delete(PREFIX + id)
  }

  /** Those that may be written again, at most `count`. */
  async read(count: number): Promise<SinkItem<Item>[]> {
    const items: SinkItem<Item>[] = []
    for (const [id, rejected] of this.#known) {
      if (rejected) continue
      const stored = (await this.#state.get(PREFIX + id)) as StoredLetter | undefined
      if (stored === undefined) this.#known.delete(id)
      else items.push({ id, url: stored.url, change: stored.change, record: stored.record as Item })
      if (items.length === count) break
    }
    return items
  }
}
