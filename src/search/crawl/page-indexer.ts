/**
 * Indexes pages in one worker, and shares them with the others by what they are expected to cost. Whoever indexes a page
 * puts it into a shard of its own, after every other shard has let go of it; so a document is in one shard or in none.
 */

import type { Page } from '../../extract/contract.js'
import type { HookPeers, HookStage } from '../../hooks/contract.js'
import { nextTurn, systemClock } from '../../time.js'
import type { SearchDocument } from '../contract.js'
import { Backlog, type PageCost, WaitingPage } from './backlog.js'
import { IndexingCosts, type IndexStage } from './costs.js'
import type { OwnShards } from './own-shards.js'
import { type DocumentRules, documentOf } from './page-document.js'
import { Peers } from './peers.js'

/** A worker that is busy for longer than this hands pages over. */
const BOUND_MS = 20
/** Hosts whose language is remembered. */
const MOST_HOSTS = 2000

export class PageIndexer {
  readonly #shards: OwnShards
  readonly #rules: DocumentRules
  readonly #clock = systemClock()
  readonly #costs = new IndexingCosts()
  readonly #backlog = new Backlog()
  readonly #peers: Peers | undefined
  readonly #worker: number
  readonly #shares: boolean
  /** Pages by the id of their documents, from the moment when the other shards are asked for it. */
  readonly #putting = new Map<string, Set<WaitingPage>>()
  /** The language of the last page of each host: what the next one will be in. */
  readonly #languages = new Map<string, string>()
  /** Pages put since the last commit, whose share of the next one is learned. */
  #uncommitted: PageCost[] = []
  #isWorking = false
  #closing: Promise<void> | undefined = undefined
  #segmented = 0
  #segmentMs = 0

  constructor(
    shards: OwnShards,
    rules: DocumentRules,
    worker: number,
    peers: HookPeers | undefined,
    shares: boolean,
  ) {
    this.#shards = shards
    this.#rules = rules
    this.#shares = shares
    this.#worker = worker
    this.#peers =
      peers === undefined || peers.count < 2
        ? undefined
        : new Peers(peers, worker, {
            drop: (ids, from) => this.#dropFor(ids, from),
            // Closing commits.
            commit: () => this.#closing ?? this.#commitOwn(),
            index: (page, from) => this.#index(page, from),
            cancelFrom: (from) => this.#backlog.cancelFrom(from),
            loadWithout: (from) => this.#backlog.loadWithout(from),
            learned: (host, cost) => this.#learn(host, cost),
          })
  }

  /** What this thread did, for itself and for other workers. */
  get stages(): Record<IndexStage, HookStage> {
    const { indexMs, mergeMs, written, merged } = this.#shards.work
    return {
      segment: { done: this.#segmented, busyMs: this.#segmentMs },
      index: { done: written, busyMs: indexMs },
      merge: { done: merged, busyMs: mergeMs },
    }
  }

  /** Resolves when the page is in an index, and the next `flush` makes it durable. */
  async put(page: Page): Promise<void> {
    await this.#index(page, undefined)
  }

  /** Puts what is no page. Its id must be one that only this worker puts. */
  async putDocument(document: SearchDocument): Promise<void> {
    await this.#clear(document.id ?? document.url)
    await this.#shards.put(document)
  }

  async delete(id: string): Promise<void> {
    await this.#shards.delete(id)
    await this.#clear(id)
  }

  /** Makes everything durable that was put, here or by another worker. */
  async flush(): Promise<void> {
    await Promise.all([this.#commitOwn(), this.#peers?.flush()])
  }

  async close(): Promise<void> {
    let error: unknown
    try {
      this.#closing ??= this.#shards.close()
      await this.#closing
    } catch (failure) {
      error = failure
    }
    this.#peers?.close(error)
    if (error !== undefined) throw error
  }

  #index(page: Page, from: number | undefined): Promise<PageCost | undefined> {
    return new Promise((resolve, reject) => {
      this.#backlog.push(new WaitingPage(page, this.#expectedMs(page), from, resolve, reject))
      this.#share()
      void this.#work()
    })
  }

  #expectedMs(page: Page): number {
    return this.#costs.of(this.#languages.get(page.host), page.body.byteLength / 1024)
  }

  /** Hands pages over while this worker is above its bound and another one would be done earlier. */
  #share(): void {
    const peers = this.#peers
    if (peers === undefined || !this.#shares) return
    peers.announce()
    for (;;) {
      const load = this.#backlog.loadWithout(undefined)
      const page = load <= BOUND_MS ? undefined : this.#backlog.lastOwn()
      if (page === undefined || !peers.take(page, load)) return
      this.#backlog.remove(page)
    }
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return
    this.#isWorking = true
    for (let next = this.#backlog.shift(); next !== undefined; next = this.#backlog.shift()) {
      await this.#segment(next)
      // Sockets, and messages of other workers, come first.
      await nextTurn()
      this.#share()
    }
    this.#isWorking = false
    this.#share()
  }

  /** Reads a page and puts its document. The next page is read while the other shards let go of this one. */
  async #segment(waiting: WaitingPage): Promise<void> {
    const { page } = waiting
    const cleared = this.#clear(page.url, waiting)
    const startedAt = this.#clock.now()
    try {
      const making = documentOf(page, this.#rules)
      const document = making instanceof Promise ? await making : making
      const readMs = this.#clock.now() - startedAt
      const finishing = this.#finish(waiting, document, cleared, readMs)
      if (cleared === undefined) await finishing
    } catch (error) {
      this.#end(waiting)
      waiting.failed(error)
    }
  }

  /** Never rejects. */
  async #finish(
    waiting: WaitingPage,
    document: SearchDocument | undefined,
    cleared: Promise<unknown> | undefined,
    readMs: number,
  ): Promise<void> {
    const { page, done, failed } = waiting
    try {
      if (cleared !== undefined) await cleared
      const id = document?.id ?? document?.url
      if (id !== page.url) await this.#shards.delete(page.url)
      if (id !== undefined) await this.#claim(id, waiting)
      done(
        document === undefined || waiting.isCancelled ? undefined : await this.#put(page, document, readMs),
      )
    } catch (error) {
      failed(error)
    }
    this.#end(waiting)
  }

  /** Resolves when no other worker has this id or is about to put it. Those that have begun to are asked again. */
  async #claim(id: string, waiting: WaitingPage): Promise<void> {
    if (id !== waiting.page.url) {
      waiting.isContested = false
      await this.#clear(id, waiting)
    }
    while (waiting.isContested && !waiting.isCancelled) {
      waiting.isContested = false
      await this.#peers?.drop([id])
    }
  }

  #end(waiting: WaitingPage): void {
    this.#backlog.finished(waiting)
    for (const id of waiting.ids) {
      const pages = this.#putting.get(id)
      pages?.delete(waiting)
      if (pages?.size === 0) this.#putting.delete(id)
    }
    waiting.end()
  }

  async #put(page: Page, document: SearchDocument, readMs: number): Promise<PageCost> {
    const startedAt = this.#clock.now()
    await this.#shards.put(document)
    const ms = readMs + (this.#clock.now() - startedAt)
    const language = document.language ?? ''
    const cost = { language, kilobytes: page.body.byteLength / 1024, ms }
    this.#segmented++
    this.#segmentMs += ms
    this.#uncommitted.push(cost)
    this.#learn(page.host, cost)
    return cost
  }

  #learn(host: string, { language, kilobytes, ms }: PageCost): void {
    this.#costs.observe('segment', language, kilobytes, ms)
    if (this.#languages.size >= MOST_HOSTS) this.#languages.clear()
    this.#languages.set(host, language)
  }

  async #commitOwn(): Promise<void> {
    const pages = this.#uncommitted
    this.#uncommitted = []
    const before = this.#shards.work
    await this.#shards.commit()
    const after = this.#shards.work
    const total = pages.reduce((sum, { kilobytes }) => sum + kilobytes, 0)
    if (total === 0) return
    for (const { language, kilobytes } of pages) {
      const share = kilobytes / total
      this.#costs.observe('index', language, kilobytes, (after.indexMs - before.indexMs) * share)
      this.#costs.observe('merge', language, kilobytes, (after.mergeMs - before.mergeMs) * share)
    }
  }

  /** Resolves when no other shard has this document; undefined if none can have it. */
  #clear(id: string, waiting?: WaitingPage): Promise<unknown> | undefined {
    const here = this.#shards.dropFromOthers([id])
    if (this.#peers === undefined) return here
    if (waiting !== undefined) {
      waiting.ids.push(id)
      this.#putting.set(id, (this.#putting.get(id) ?? new Set()).add(waiting))
    }
    const there = this.#peers.drop([id])
    return here === undefined ? there : Promise.all([here, there])
  }

  /**
   * Another worker is about to put these. If both put one at the same time, a worker with a higher number puts first, and
   * the other one asks again.
   */
  #dropFor(ids: readonly string[], from: number): Promise<void> | undefined {
    const pages = ids.flatMap((id) => [...(this.#putting.get(id) ?? [])])
    if (pages.length > 0 && from < this.#worker)
      return Promise.all(pages.map(({ ended }) => ended)).then(() => this.#drop(ids))
    for (const waiting of pages) waiting.isContested = true
    return this.#drop(ids)
  }

  #drop(ids: readonly string[]): Promise<void> | undefined {
    return this.#closing === undefined ? this.#shards.drop(ids) : undefined
  }
}
