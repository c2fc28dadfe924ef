/**
 * Numbers of URLs in memory that all threads share: rules that look URLs up in it can travel to worker threads, and none of
 * them has a copy. A URL is known by its fingerprint; a slot takes 12 bytes.
 */

import { KumoError } from '../../errors.js'
import { withRecipe } from '../../modules/recipe.js'
import { fingerprint } from '../fingerprint.js'
import type { ScopeRule, ScopeTarget, ScopeTest } from './scope.js'

const SLOT_WORDS = 3
/** At most this share of the slots is filled. */
const FULL = 0.75
const LEAST_SLOTS = 64
/** Words before the slots; the first says how far the table is. */
const HEAD_WORDS = 2
const [FILLING, READY, FAILED] = [0, 1, 2]

/** A table that is being filled by one thread, and read by others once it is ready. */
export class UrlTable {
  readonly buffer: SharedArrayBuffer
  readonly #words: Int32Array
  readonly #mask: number
  readonly #print = new Uint32Array(2)

  private constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer
    this.#words = new Int32Array(buffer)
    this.#mask = (this.#words.length - HEAD_WORDS) / SLOT_WORDS - 1
  }

  /** Room for so many URLs. */
  static withRoomFor(urls: number): UrlTable {
    let slots = LEAST_SLOTS
    while (slots * FULL < urls) slots *= 2
    return new UrlTable(new SharedArrayBuffer(4 * (HEAD_WORDS + slots * SLOT_WORDS)))
  }

  static of(buffer: SharedArrayBuffer): UrlTable {
    return new UrlTable(buffer)
  }

  /** Sets the number of a fingerprint, which must be 0 or more. */
  set(low: number, high: number, number: number): void {
    const at = this.#slot(low, high)
    this.#words[at] = low
    this.#words[at + 1] = high
    this.#words[at + 2] = number + 1
  }

  /** The number of a URL; undefined if it has none. */
  get(url: string): number | undefined {
    fingerprint(url, this.#print)
    const found = this.#words[this.#slot(this.#print[0]!, this.#print[1]!) + 2]!
    return found === 0 ? undefined : found - 1
  }

  /** The table is complete, or will never be. */
  end(isReady: boolean): void {
    Atomics.store(this.#words, 0, isReady ? READY : FAILED)
    Atomics.notify(this.#words, 0)
  }

  /** Resolves once the table can be read. */
  async ready(name: string): Promise<void> {
    const { waitAsync } = Atomics as unknown as {
      waitAsync(words: Int32Array, at: number, value: number): { readonly value: Promise<unknown> | string }
    }
    while (Atomics.load(this.#words, 0) === FILLING) await waitAsync(this.#words, 0, FILLING).value
    if (Atomics.load(this.#words, 0) === FAILED)
      throw new KumoError(
        'KUMO_STORE_FAILED',
        `${name}: the graph could not be read; was it closed too early?`,
      )
  }

  #slot(low: number, high: number): number {
    const words = this.#words
    for (let slot = low & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const at = HEAD_WORDS + slot * SLOT_WORDS
      if (words[at + 2] === 0 || (words[at] === (low | 0) && words[at + 1] === (high | 0))) return at
    }
  }
}

/** A rule that knows the priority of each URL by itself. */
export interface PriorityRule extends ScopeRule {
  readonly givesPriorities: true
}

/** Such a rule during one run. */
export interface PriorityTest extends ScopeTest {
  /** Undefined: it says nothing about the URL. */
  priorityOf(target: ScopeTarget): number | undefined
}

/** The numbers of a table as priorities. */
export function tablePriorities(name: string, buffer: SharedArrayBuffer): PriorityRule {
  const start = (): PriorityTest => {
    const table = UrlTable.of(buffer)
    return {
      perOrigin: false,
      open: () => table.ready(name),
      test: ({ url }) => table.get(url) !== undefined,
      priorityOf: ({ url }) => table.get(url),
    }
  }
  return withRecipe({ name, start, givesPriorities: true as const }, 'tablePriorities', name, buffer)
}

/** Matches the URLs of a table. */
export function inTable(name: string, buffer: SharedArrayBuffer): ScopeRule {
  const start = (): ScopeTest => {
    const table = UrlTable.of(buffer)
    return {
      perOrigin: false,
      open: () => table.ready(name),
      test: ({ url }) => table.get(url) !== undefined,
    }
  }
  return withRecipe({ name, start }, 'inTable', name, buffer)
}
