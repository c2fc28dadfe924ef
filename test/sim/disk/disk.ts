/**
 * What outlives the threads of a simulation: what a store on a disk holds, by partition, and for each thread that writes
 * the batches that it has sent. Written in commits, each of them whole.
 */

import type { Settlement } from '../../../src/frontier/contract.js'
import type { MovedPartitions } from '../../../src/frontier/shard.js'
import type { CrawlRequest } from '../../../src/types.js'
import { fingerprint } from '../../../src/url/fingerprint.js'
import { knownAs } from '../../../src/url/known-as.js'

/** One change. Facts of no host have none; a fact without a value is gone. */
export type Change =
  | { readonly kind: 'add'; readonly request: CrawlRequest }
  | { readonly kind: 'settle'; readonly settlement: Settlement }
  | {
      readonly kind: 'fact'
      readonly space: string
      readonly key: string
      readonly host: string | undefined
      readonly value: string | undefined
    }
  | { readonly kind: 'outbox'; readonly batch: number; readonly text: string | undefined }

interface Waiting {
  readonly request: CrawlRequest
  /** Undefined: as it came. */
  readonly at: number | undefined
}

/** What a partition holds. */
class Shelf {
  readonly waiting = new Map<string, Waiting>()
  readonly names = new Set<string>()
  readonly hosts = new Map<string, HostClock>()
  /** By space, host and key. */
  readonly facts = new Map<string, readonly [space: string, host: string, key: string, fact: string]>()
}

interface HostClock {
  visitedAt: number
  notBefore: number
  delayMs: number
  trouble: Settlement['hostTrouble']
}

/** What one thread after the other writes for a shard. */
interface Writer {
  readonly outbox: Map<number, string>
  nextBatch: number
}

export class SimDisk {
  readonly #partitionOf: (host: string) => number
  readonly #shelves = new Map<number, Shelf>()
  readonly #writers = new Map<number, Writer>()
  /** Facts of no host, by space and key. */
  readonly #facts = new Map<string, Map<string, string>>()

  /** Whoever wrote last did not come to an end: nobody knows what it visited just before. */
  wasCut = false
  /** Stores that are open. */
  #open = 0

  constructor(partitionOf: (host: string) => number) {
    this.#partitionOf = partitionOf
  }

  open(): void {
    this.#open++
  }

  close(): void {
    this.#open--
  }

  /** A process begins. */
  begin(): void {
    this.wasCut = this.#open > 0
    this.#open = 0
  }

  commit(writer: number, changes: readonly Change[]): void {
    for (const change of changes) this.#apply(writer, change)
  }

  facts(space: string): Map<string, string> {
    return entryOf(this.#facts, space, () => new Map<string, string>())
  }

  get spaces(): readonly string[] {
    return [...this.#facts.keys()]
  }

  writer(writer: number): Writer {
    return entryOf(this.#writers, writer, () => ({ outbox: new Map<number, string>(), nextBatch: 0 }))
  }

  get writers(): readonly number[] {
    return [...this.#writers.keys()].sort((a, b) => a - b)
  }

  /** What these partitions hold, as the memory store of a shard takes it in. */
  read(partitions: readonly number[], delayMs: number) {
    const shelves = partitions.map((partition) => this.#shelf(partition))
    return {
      partitions,
      frontier: framed(shelves, delayMs),
      seen: shelves.map(({ names }) => printsOf(names)),
      records: shelves.flatMap(({ facts }) => [...facts.values()]),
    }
  }

  /** Requests that wait in a partition. */
  waiting(partition: number): number {
    return this.#shelf(partition).waiting.size
  }

  #apply(writer: number, change: Change): void {
    switch (change.kind) {
      case 'add':
        this.#add(change.request)
        break
      case 'settle':
        this.#settle(change.settlement)
        break
      case 'fact':
        this.#keep(change)
        break
      case 'outbox': {
        const { batch, text } = change
        const { outbox } = this.writer(writer)
        if (text === undefined) outbox.delete(batch)
        else outbox.set(batch, text)
        this.writer(writer).nextBatch = Math.max(this.writer(writer).nextBatch, batch + 1)
      }
    }
  }

  #add(request: CrawlRequest, at?: number): void {
    const shelf = this.#shelfOf(request.host)
    shelf.waiting.set(keyOf(request), { request, at })
    shelf.names.add(knownAs(request))
  }

  #settle({ request, visitedAt, again, found = [], ...clock }: Settlement): void {
    const { waiting, hosts } = this.#shelfOf(request.host)
    waiting.delete(keyOf(request))
    if (again !== undefined) {
      const revisit = again.revisit || request.revisit
      this.#add({ ...request, attempt: again.attempt, ...(revisit && { revisit }) }, again.at)
    }
    const host = entryOf(hosts, request.host, newClock)
    host.visitedAt = Math.max(host.visitedAt, visitedAt ?? 0)
    host.notBefore = Math.max(host.notBefore, clock.hostNotBefore ?? 0)
    host.delayMs = clock.hostDelayMs ?? host.delayMs
    host.trouble = clock.hostTrouble ?? host.trouble
    for (const each of found) this.#add(each)
  }

  #keep({ space, key, host, value }: Change & { kind: 'fact' }): void {
    if (host === undefined) {
      if (value === undefined) this.facts(space).delete(key)
      else this.facts(space).set(key, value)
      return
    }
    const { facts } = this.#shelfOf(host)
    const place = JSON.stringify([space, host, key])
    if (value === undefined) facts.delete(place)
    else facts.set(place, [space, host, key, value])
  }

  #shelfOf(host: string): Shelf {
    return this.#shelf(this.#partitionOf(host))
  }

  #shelf(partition: number): Shelf {
    return entryOf(this.#shelves, partition, () => new Shelf())
  }
}

/** A request may be there twice: as a page and for an errand. */
function keyOf({ url, purpose }: CrawlRequest): string {
  return JSON.stringify([url, purpose])
}

function newClock(): HostClock {
  return { visitedAt: 0, notBefore: 0, delayMs: 0, trouble: undefined }
}

/** In the columns that frontiers exchange: see moved-hosts.ts. */
function framed(shelves: readonly Shelf[], delayMs: number): MovedPartitions {
  const names: string[] = []
  const clocks: number[] = []
  const urls: string[] = []
  const numbers: number[] = []
  const parents: string[] = []
  const rare: MovedPartitions['rare'][number][] = []
  for (const { hosts, waiting } of shelves) {
    const byHost = new Map<string, Waiting[]>([...hosts.keys()].map((host) => [host, []]))
    for (const each of waiting.values()) entryOf(byHost, each.request.host, () => []).push(each)
    for (const [host, requests] of byHost) {
      const { visitedAt, notBefore, delayMs: requested, trouble } = hosts.get(host) ?? newClock()
      const rested = visitedAt === 0 ? 0 : visitedAt + Math.max(delayMs, requested)
      const { incidents, since } = trouble ?? { incidents: 0, since: 0 }
      names.push(host)
      clocks.push(notBefore, requested, incidents, since, requests.length, 1, rested)
      for (const { request, at } of requests) {
        const { url, depth, priority, attempt, redirects, parent, purpose, via, hint, revisit } = request
        if (purpose ?? via ?? hint ?? revisit) rare.push([urls.length, { purpose, via, hint, revisit }])
        const from = parent === undefined ? -1 : parents.push(parent) - 1
        urls.push(url)
        numbers.push(depth, priority, attempt, redirects, from, at ?? -1)
      }
    }
  }
  const columns = { names, urls, parents, rare, requestedDelays: [], resting: [] }
  return { ...columns, clocks: Float64Array.from(clocks), numbers: Float64Array.from(numbers) }
}

function printsOf(names: ReadonlySet<string>): Uint32Array {
  const prints = new Uint32Array(2 * names.size)
  let at = 0
  for (const name of names) {
    fingerprint(name, prints, at)
    at += 2
  }
  return prints
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}
