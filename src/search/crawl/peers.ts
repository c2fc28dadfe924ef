/**
 * The other workers of a crawl, as the indexing hook of one sees them: what they have of its pages, what it waits for, and
 * how busy they are.
 */

import { KumoError, messageOf } from '../../errors.js'
import type { Page } from '../../extract/contract.js'
import type { HookPeers } from '../../hooks/contract.js'
import { nextTurn, systemClock } from '../../time.js'
import type { PageCost, WaitingPage } from './backlog.js'
import type { PeerMessage } from './messages.js'

/** A load is announced when it has changed by so much. */
const ANNOUNCE_MS = 15
/** Work that one worker has from another at most: enough to be busy until more can arrive. */
const MOST_AWAY_MS = 200
/** Pages that were handed over are kept until they are durable. With so many bytes of them, a commit is asked for. */
const MOST_KEPT_BYTES = 32 * 1024 * 1024

/** What this worker does for the others. */
export interface PeerWork {
  /** Removes documents from the shards of this worker, durably; undefined if there are none. */
  drop(ids: readonly string[], from: number): Promise<void> | undefined
  commit(): Promise<void>
  index(page: Page, from: number | undefined): Promise<PageCost | undefined>
  /** A worker is gone, and nobody waits for the pages that it handed over. */
  cancelFrom(worker: number): void
  /** How long this worker will be busy with pages that are not from the other one, in ms. */
  loadWithout(worker: number): number
  /** What a page cost the worker that it was handed to. */
  learned(host: string, cost: PageCost): void
}

/** A commit that was asked for, or pages that are indexed again. */
interface PendingCommit {
  readonly pages: readonly WaitingPage[]
  readonly promise: Promise<void>
  readonly done: () => void
}

/** One other worker. */
class Peer {
  /** How long it will be busy with pages of others, as it last said; undefined: it has not spoken. */
  loadMs: number | undefined = undefined
  /** What this worker told it last. */
  announcedMs = 0
  /** Pages that it has and that are not in its index yet. */
  readonly away = new Map<number, WaitingPage>()
  awayMs = 0
  /** Pages in its index that it has not committed. */
  kept: WaitingPage[] = []
  keptBytes = 0
  readonly commits = new Map<number, PendingCommit>()
  isClosed = false
}

interface PendingDrop {
  readonly ids: readonly string[]
  readonly unanswered: Set<number>
  readonly done: () => void
}

export class Peers {
  readonly #channel: HookPeers
  readonly #work: PeerWork
  readonly #peers = new Map<number, Peer>()
  readonly #drops = new Map<number, PendingDrop>()
  /** Ids that the others are asked for at the end of this turn. */
  #nextDrop: { readonly ids: Set<string>; readonly asked: Promise<void> } | undefined = undefined
  /** Numbers of a worker and of the one that it replaces must differ: answers to both may be on their way. */
  #nextNumber = Math.floor(systemClock().now() * 1000)
  /** What another worker could not make durable. */
  #failure: KumoError | undefined = undefined
  #isClosed = false
  #closeError: string | undefined = undefined

  constructor(channel: HookPeers, self: number, work: PeerWork) {
    this.#channel = channel
    this.#work = work
    for (let worker = 0; worker < channel.count; worker++)
      if (worker !== self) this.#peers.set(worker, new Peer())
    channel.receive({
      message: (from, message) => this.#receive(from, message as PeerMessage),
      left: (worker) => this.#left(worker),
    })
    for (const worker of this.#peers.keys()) this.#post(worker, { kind: 'hello' })
  }

  /** Resolves when no other worker has these documents. */
  drop(ids: readonly string[]): Promise<void> {
    if (this.#nextDrop === undefined) {
      const all = new Set<string>()
      const asked = nextTurn().then(() => {
        this.#nextDrop = undefined
        return this.#ask([...all])
      })
      this.#nextDrop = { ids: all, asked }
    }
    for (const id of ids) this.#nextDrop.ids.add(id)
    return this.#nextDrop.asked
  }

  /** Tells the others how busy this worker is, if that has changed. */
  announce(): void {
    for (const [worker, peer] of this.#peers) {
      const ms = this.#work.loadWithout(worker)
      const isNews = Math.abs(ms - peer.announcedMs) >= ANNOUNCE_MS || (ms === 0 && peer.announcedMs > 0)
      if (!isNews) continue
      peer.announcedMs = ms
      this.#post(worker, { kind: 'load', ms })
    }
  }

  /** Hands a page to the worker that is done first, if that is earlier than this one, which is busy for `load` ms. */
  take(waiting: WaitingPage, load: number): boolean {
    let best: readonly [number, Peer] | undefined
    let least = Math.min(load, MOST_AWAY_MS)
    for (const [worker, peer] of this.#peers) {
      if (peer.loadMs === undefined || peer.isClosed) continue
      const ms = peer.loadMs + peer.awayMs + waiting.expectedMs
      if (ms >= least) continue
      least = ms
      best = [worker, peer]
    }
    return best !== undefined && this.#hand(waiting, ...best)
  }

  /** Resolves when every page that another worker has put for this one is durable. */
  async flush(): Promise<void> {
    for (const [worker, peer] of this.#peers) this.#commitAt(worker, peer)
    const commits = [...this.#peers.values()].flatMap((peer) => [...peer.commits.values()])
    await Promise.all(commits.map(({ promise }) => promise))
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Everything of this worker is committed, or failed to be. */
  close(error: unknown): void {
    this.#isClosed = true
    this.#closeError = error === undefined ? undefined : messageOf(error)
    for (const worker of this.#peers.keys()) this.#post(worker, { kind: 'closed', error: this.#closeError })
  }

  #post(worker: number, message: PeerMessage, transfer?: readonly ArrayBuffer[]): void {
    this.#channel.post(worker, message, transfer)
  }

  #ask(ids: readonly string[]): Promise<void> {
    const open = [...this.#peers].filter(([, { isClosed }]) => !isClosed).map(([worker]) => worker)
    if (open.length === 0 || ids.length === 0) return Promise.resolve()
    const number = this.#nextNumber++
    return new Promise((done) => {
      this.#drops.set(number, { ids, unanswered: new Set(open), done })
      for (const worker of open) this.#post(worker, { kind: 'drop', number, ids })
    })
  }

  #dropped(worker: number, number: number): void {
    const drop = this.#drops.get(number)
    if (drop === undefined || !drop.unanswered.delete(worker) || drop.unanswered.size > 0) return
    this.#drops.delete(number)
    drop.done()
  }

  #hand(waiting: WaitingPage, worker: number, peer: Peer): boolean {
    const number = this.#nextNumber++
    try {
      const { content, transfer } = this.#channel.pack(waiting.page)
      this.#post(worker, { kind: 'page', number, page: content }, transfer)
    } catch {
      // Its data cannot be cloned.
      return false
    }
    peer.away.set(number, waiting)
    peer.awayMs += waiting.expectedMs
    return true
  }

  /** A page that was handed over is in the index of the other worker, or cannot be. */
  #indexed(worker: number, peer: Peer, message: Extract<PeerMessage, { kind: 'done' }>): void {
    const waiting = peer.away.get(message.number)
    if (waiting === undefined) return
    peer.away.delete(message.number)
    peer.awayMs = peer.away.size === 0 ? 0 : peer.awayMs - waiting.expectedMs
    if (message.error !== undefined) {
      waiting.failed(new Error(message.error))
      return
    }
    if (message.cost !== undefined) this.#work.learned(waiting.page.host, message.cost)
    peer.kept.push(waiting)
    peer.keptBytes += waiting.page.body.byteLength
    if (peer.keptBytes > MOST_KEPT_BYTES) this.#commitAt(worker, peer)
    waiting.done(undefined)
  }

  #commitAt(worker: number, peer: Peer): void {
    const { kept } = peer
    if (kept.length === 0) return
    peer.kept = []
    peer.keptBytes = 0
    const number = this.#pendingCommit(peer, kept)
    if (!peer.isClosed) this.#post(worker, { kind: 'commit', number })
    else this.#committed(peer, number, undefined)
  }

  #pendingCommit(peer: Peer, pages: readonly WaitingPage[]): number {
    const number = this.#nextNumber++
    let done = () => {}
    const promise = new Promise<void>((resolve) => {
      done = resolve
    })
    peer.commits.set(number, { pages, promise, done })
    return number
  }

  #committed(peer: Peer, number: number, error: string | undefined): void {
    const commit = peer.commits.get(number)
    if (commit === undefined) return
    peer.commits.delete(number)
    if (error !== undefined) this.#fail(error)
    commit.done()
  }

  #fail(error: string): void {
    const message = `another worker, to which pages were handed, could not index them: ${error}`
    this.#failure ??= new KumoError('KUMO_INDEX_FAILED', message)
  }

  #receive(from: number, message: PeerMessage): void {
    const peer = this.#peers.get(from)!
    switch (message.kind) {
      case 'hello':
        this.#work.cancelFrom(from)
        peer.loadMs = 0
        break
      case 'load':
        peer.loadMs = message.ms
        break
      case 'drop': {
        const { number, ids } = message
        const dropped = () => this.#post(from, { kind: 'dropped', number })
        const dropping = this.#isClosed ? undefined : this.#work.drop(ids, from)
        if (dropping === undefined) dropped()
        // Not answered: the other one must not put what is still here. The next flush fails.
        else dropping.then(dropped, (error) => this.#fail(messageOf(error)))
        break
      }
      case 'dropped':
        this.#dropped(from, message.number)
        break
      case 'page':
        void this.#indexFor(from, message)
        break
      case 'done':
        this.#indexed(from, peer, message)
        break
      case 'commit':
        void this.#commitFor(from, message.number)
        break
      case 'committed':
        this.#committed(peer, message.number, message.error)
        break
      case 'closed':
        peer.isClosed = true
        for (const number of this.#drops.keys()) this.#dropped(from, number)
        for (const number of peer.commits.keys()) this.#committed(peer, number, message.error)
        break
    }
  }

  async #indexFor(from: number, { number, page }: Extract<PeerMessage, { kind: 'page' }>): Promise<void> {
    let cost: PageCost | undefined
    let error: string | undefined
    try {
      cost = await this.#work.index(this.#channel.unpack(page), from)
    } catch (failure) {
      error = messageOf(failure)
    }
    this.#post(from, { kind: 'done', number, cost, error })
  }

  async #commitFor(from: number, number: number): Promise<void> {
    let error = this.#closeError
    try {
      if (!this.#isClosed) await this.#work.commit()
    } catch (failure) {
      error = messageOf(failure)
    }
    this.#post(from, { kind: 'committed', number, error })
  }

  /** A worker died. What it had and did not make durable is indexed again, here. */
  #left(worker: number): void {
    if (this.#isClosed) return
    const old = this.#peers.get(worker)!
    const peer = new Peer()
    this.#peers.set(worker, peer)
    this.#work.cancelFrom(worker)
    this.#post(worker, { kind: 'hello' })
    for (const [number, { ids, unanswered }] of this.#drops)
      if (unanswered.has(worker)) this.#post(worker, { kind: 'drop', number, ids })
    for (const { page, done, failed } of old.away.values())
      this.#work.index(page, undefined).then(done, failed)
    for (const { pages, done } of old.commits.values()) this.#again(peer, pages, done)
    if (old.kept.length > 0) this.#again(peer, old.kept, () => {})
  }

  #again(peer: Peer, pages: readonly WaitingPage[], then: () => void): void {
    const number = this.#pendingCommit(peer, pages)
    Promise.all(pages.map(({ page }) => this.#work.index(page, undefined)))
      .then(() => this.#work.commit())
      .then(
        () => this.#committed(peer, number, undefined),
        (error: unknown) => this.#committed(peer, number, messageOf(error)),
      )
      .then(then)
  }
}
