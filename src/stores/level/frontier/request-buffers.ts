import type { Workbench } from '../../../frontier/workbench.js'
import type { Database } from '../db/database.js'
import type { Journal } from '../db/journal.js'
import { duePrefix, fromOrdered, laterPrefix } from '../format/keys.js'
import { readRequest } from '../format/records.js'
import { type LevelHost, StoredRequest, type Tail } from './level-host.js'

/**
 * Requests of a host held in memory: at least so many that a read is worth it, at most so many that memory is shared.
 */
const MIN_LENGTH = 4
const MAX_LENGTH = 4096
/** Concurrent reads; LevelDB uses four threads for them. */
const CONCURRENT_READS = 32

export interface RequestBuffersParts {
  readonly database: Database
  readonly journal: Journal
  readonly workbench: Workbench<LevelHost>
  /** Over all hosts. */
  readonly requestsInMemory: number
  /** The number of connections to a host depends on its waiting requests; they are counted up to this. */
  readonly countUpTo: number
  /** Number of the next request: requests with a greater number arrived later. */
  nextSeq(): number
  /** A host has more requests ready than before. */
  changed(host: LevelHost): void
  failed(error: unknown): void
}

/**
 * Decides which of a host's requests are in memory and which on disk only. A buffer is refilled when half of it is
 * used, in the background, so that it does not run dry.
 */
export class RequestBuffers {
  readonly #parts: RequestBuffersParts
  readonly #queue: (() => Promise<void>)[] = []
  #reading = 0

  constructor(parts: RequestBuffersParts) {
    this.#parts = parts
  }

  /** Whether a read is in progress or queued. */
  get isReading(): boolean {
    return this.#reading > 0
  }

  /** How many requests of a host to hold in memory, at the current number of hosts. */
  get length(): number {
    const share = Math.floor(this.#parts.requestsInMemory / Math.max(1, this.#parts.workbench.knownHosts))
    return Math.min(Math.max(share, MIN_LENGTH), MAX_LENGTH)
  }

  /** Keeps a request in memory if it comes before those on disk only. */
  keep(host: LevelHost, request: StoredRequest): void {
    const tail = request.at === undefined ? host.due : host.later
    if (tail.isLoading) tail.arrived.push(request)
    else if (tail.count > 0 && request.place > tail.bound) this.#leave(tail, 1)
    else {
      push(host, request)
      this.#fit(host)
    }
  }

  /** A request was settled, and is about to be removed from disk. */
  gone(host: LevelHost, request: StoredRequest): void {
    const tail = request.at === undefined ? host.due : host.later
    // It was leased before the buffer was cut, and must not be read again.
    if (tail.count > 0 && request.place > tail.bound) tail.commit = this.#parts.journal.commit
  }

  /** Starts refilling buffers that have become short. */
  refill(host: LevelHost): void {
    const { due, later, queue } = host
    if (due.count === 0 && later.count === 0) return
    const half = this.length / 2
    if (due.count > 0 && !due.isLoading && host.dueHeld < half) this.#load(host, [due])
    if (later.count > 0 && !later.isLoading && queue.laterCount < half) this.#load(host, [later])
  }

  /** Fills the buffers of a host that comes back from disk: both, before it hands out anything, to keep the order. */
  enter(host: LevelHost, hasLater: boolean): Promise<void> {
    const tails = hasLater ? [host.due, host.later] : [host.due]
    for (const tail of tails) {
      tail.count = 1
      tail.isExact = false
      // Requests added while it was on disk may not have been written yet.
      tail.commit = this.#parts.journal.commit
    }
    return new Promise((entered) => this.#load(host, tails, entered))
  }

  /** Reads what comes after the bounds. Until it has arrived, new requests wait. */
  #load(host: LevelHost, tails: readonly Tail[], loaded = () => this.#parts.changed(host)): void {
    for (const tail of tails) tail.isLoading = true
    const before = this.#parts.nextSeq()
    const leased = new Set(host.leased.map(({ seq }) => seq))
    this.#enqueue(async () => {
      const { journal } = this.#parts
      try {
        if (tails.some(({ commit }) => commit > journal.flushed)) await journal.flush()
        for (const tail of tails) await this.#read(host, tail, before, leased)
      } catch (error) {
        this.#parts.failed(error)
      }
      loaded()
    })
  }

  async #read(host: LevelHost, tail: Tail, before: number, leased: ReadonlySet<number>): Promise<void> {
    const { database } = this.#parts
    const isDue = tail === host.due
    const prefix = isDue ? duePrefix(host.partition, host.host) : laterPrefix(host.partition, host.host)
    const from = tail.bound === '' ? prefix : `${prefix}${tail.bound}\0`
    const to = endOf(prefix)
    const limit = this.length
    const entries = await database.read({ from, to, limit })
    const last = entries.length < limit ? undefined : entries.at(-1)![0]
    const left = last === undefined || tail.isExact ? 0 : await this.#count(`${last}\0`, to, before)
    let taken = 0
    for (const [key, record] of entries) {
      const seq = seqOf(key)
      // It was added after this read started, and waits in `arrived`; or it is leased.
      if (seq >= before || leased.has(seq)) continue
      taken++
      const again = isDue && key[key.length - SEQ_DIGITS - 1] === '0'
      push(host, this.#request(host, key, record, seq, again))
    }
    if (last !== undefined) tail.bound = last.slice(prefix.length)
    if (last === undefined) tail.count = 0
    else if (tail.isExact) tail.count -= taken
    else tail.count = this.#parts.countUpTo > 0 ? left : 1
    if (last === undefined || left < this.#parts.countUpTo) tail.isExact = true
    tail.isLoading = false
    for (const request of tail.arrived.splice(0)) this.keep(host, request)
    this.#fit(host)
  }

  /** The number of requests in a range, as far as it matters, without those added since. */
  async #count(from: string, to: string, before: number): Promise<number> {
    const { database, countUpTo } = this.#parts
    let count = 0
    if (countUpTo === 0) return count
    for await (const keys of database.scanKeys({ from, to })) {
      for (const key of keys) if (seqOf(key) < before) count++
      if (count >= countUpTo) break
    }
    return count
  }

  #request(host: LevelHost, key: string, record: string, seq: number, again: boolean): StoredRequest {
    const { request, at } = this.#parts.database.decode(key, readRequest, record, host.host)
    const own = at === undefined ? undefined : host.scale.fromStore(at)
    return new StoredRequest(request, host, request.attempt, seq, again, own)
  }

  /** A buffer of twice its length is cut back to its length. */
  #fit(host: LevelHost): void {
    const { queue, due, later } = host
    const most = 2 * this.length
    if (queue.size <= most) return
    const keep = this.length
    if (queue.laterCount > most && !later.isLoading) {
      const trimmed = queue.trimLater<StoredRequest>(keep)
      host.laterHeld -= trimmed.gone
      this.#cut(later, trimmed)
    }
    if (host.dueHeld > most && !due.isLoading) {
      const trimmed = queue.trim<StoredRequest>(keep, isAmongDue)
      host.dueHeld -= trimmed.gone
      this.#cut(due, trimmed)
    }
  }

  /** What comes after `last` is on disk only from now on. */
  #cut(tail: Tail, { last, gone }: { last: StoredRequest | undefined; gone: number }): void {
    if (gone === 0 || last === undefined) return
    tail.bound = last.place
    this.#leave(tail, gone)
  }

  #leave(tail: Tail, count: number): void {
    tail.count += count
    tail.commit = this.#parts.journal.commit
  }

  #enqueue(job: () => Promise<void>): void {
    this.#queue.push(job)
    if (this.#reading < CONCURRENT_READS) void this.#work()
  }

  async #work(): Promise<void> {
    this.#reading++
    for (let job = this.#queue.shift(); job !== undefined; job = this.#queue.shift()) await job()
    this.#reading--
  }
}

function push(host: LevelHost, request: StoredRequest): void {
  const { queue } = host
  if (request.at !== undefined) {
    host.laterHeld++
    queue.pushLater(request, request.at)
    return
  }
  host.dueHeld++
  if (request.again) queue.pushAgain(request)
  else queue.push(request)
}

/** As many as `ordered` writes. */
const SEQ_DIGITS = 9

function seqOf(key: string): number {
  return fromOrdered(key.slice(-SEQ_DIGITS))
}

/** A request scheduled for later that has become due is in the queue, but stored among the later ones. */
function isAmongDue(request: StoredRequest): boolean {
  return request.at === undefined
}

/** The first key after all that start with a prefix that ends with NUL. */
function endOf(prefix: string): string {
  return `${prefix.slice(0, -1)}\x01`
}
