import type { Workbench } from '../../../frontier/workbench.js'
import type { Database } from '../db/database.js'
import type { Journal } from '../db/journal.js'
import { duePrefix, fromOrdered, laterPrefix } from '../format/keys.js'
import { readRequest } from '../format/records.js'
import { type LevelHost, StoredRequest, type Tail } from './level-host.js'

/** The head of a host's requests in memory: no fewer, so that reading is worth it, and no more, so that memory is shared. */
const SHORTEST_HEAD = 4
const LONGEST_HEAD = 4096
/** Heads that are read from disk at the same time; LevelDB has four threads for it. */
const AT_ONCE = 32

export interface RequestBuffersParts {
  readonly database: Database
  readonly journal: Journal
  readonly workbench: Workbench<LevelHost>
  /** Over all hosts. */
  readonly requestsInMemory: number
  /** Connections to one host beyond one depend on how many requests wait: as far as this, they are counted. */
  readonly countUpTo: number
  /** The number of the next request: what has a larger one came later. */
  nextSeq(): number
  /** A host has more to hand out than before. */
  changed(host: LevelHost): void
  failed(error: unknown): void
}

/**
 * The buffers of the hosts' requests: which are in memory, which on disk only. A head is refilled when half of it is
 * gone, beside the loop, so that it need not run dry.
 */
export class RequestBuffers {
  readonly #parts: RequestBuffersParts
  readonly #queue: (() => Promise<void>)[] = []
  #reading = 0

  constructor(parts: RequestBuffersParts) {
    this.#parts = parts
  }

  /** Whether something is being read, or is to be. */
  get isReading(): boolean {
    return this.#reading > 0
  }

  /** How many requests of a host are to be in memory, as things stand. */
  get length(): number {
    const share = Math.floor(this.#parts.requestsInMemory / Math.max(1, this.#parts.workbench.knownHosts))
    return Math.min(Math.max(share, SHORTEST_HEAD), LONGEST_HEAD)
  }

  /** Puts a request where it belongs: into memory if it comes before what is on disk only. */
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
    // It was handed out before the head was cut: nobody must read it again.
    if (tail.count > 0 && request.place > tail.bound) tail.commit = this.#parts.journal.commit
  }

  /** Begins to refill what has become short. */
  refill(host: LevelHost): void {
    const { due, later, queue } = host
    if (due.count === 0 && later.count === 0) return
    const half = this.length / 2
    if (due.count > 0 && !due.isLoading && host.dueHeld < half) this.#load(host, [due])
    if (later.count > 0 && !later.isLoading && queue.laterCount < half) this.#load(host, [later])
  }

  /** Reads the buffers of a host that comes back from disk: both, before it hands out anything, for the order's sake. */
  enter(host: LevelHost, hasLater: boolean): Promise<void> {
    const tails = hasLater ? [host.due, host.later] : [host.due]
    for (const tail of tails) {
      tail.count = 1
      tail.isExact = false
      // What was added while it was on disk may still be on its way there.
      tail.commit = this.#parts.journal.commit
    }
    return new Promise((entered) => this.#load(host, tails, entered))
  }

  /** Reads what comes after the bounds. Until it is there, arrivals wait. */
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
      // It arrived while this was on its way, and waits in `arrived`; or it is handed out.
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

  /** How many requests lie there, as far as anybody needs to know, without those that came since. */
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

  /** A head of twice its length is cut back to its length. */
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
    if (this.#reading < AT_ONCE) void this.#work()
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

/** As many as `ordered` makes. */
const SEQ_DIGITS = 9

function seqOf(key: string): number {
  return fromOrdered(key.slice(-SEQ_DIGITS))
}

/** A request whose own time has come stands in the queue, but lies on disk among the later ones. */
function isAmongDue(request: StoredRequest): boolean {
  return request.at === undefined
}

/** Behind all keys with a prefix that ends with NUL. */
function endOf(prefix: string): string {
  return `${prefix.slice(0, -1)}\x01`
}
