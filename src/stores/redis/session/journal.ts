import type { KumoError } from '../../../errors.js'
import { BLOCK } from '../protocol/blocks.js'
import { MOST_ARGUMENTS, type Operation } from '../protocol/operations.js'

/** A commit has at most this many operations and characters: the server does nothing else while it runs. */
const MOST_OPERATIONS = 2048
const MOST_CHARACTERS = 300_000
/** A character takes at most so many bytes. */
const BYTES_PER_CHARACTER = 3
/** If more than this is waiting, whoever adds waits too. */
const BEHIND = 50_000
/** Requests in one entry of an inbox. */
const MAIL_LINES = 200
/** Added URLs in one operation, and those that are kept for nodes that have not read them yet. */
const SEEDS_AT_ONCE = 200
export const MOST_SEEDS = 10_000

/** For so many commits, and so many of them at most, requests of the program are remembered. */
const ROOT_COMMITS = 600
const MOST_ROOTS = 50_000

/** The hash with the records of the crawl itself. */
export const CRAWL_RECORDS = ':k'

/** One change, in the order in which it was made. `left`: by how much it changes the work of the crawl. */
type Change =
  | {
      readonly kind: 'add'
      readonly partition: number
      readonly number: number
      readonly line: string
      /** False: it takes the place of one that Redis has. */
      readonly isNew: boolean
    }
  | { readonly kind: 'remove'; readonly partition: number; readonly number: number; readonly isLast: boolean }
  | { readonly kind: 'print'; readonly partition: number; readonly low: number; readonly high: number }
  | { readonly kind: 'mail'; readonly partition: number; readonly lines: string[] }
  | { readonly kind: 'take'; readonly partition: number; readonly next: string; readonly entries: number }
  | { readonly kind: 'give'; readonly partition: number; readonly to: string | undefined }
  | { readonly kind: 'seeds'; readonly partition: -1; readonly urls: readonly string[] }
  | { readonly kind: 'load'; readonly partition: -1; readonly node: string; readonly load: string }
  | { readonly kind: 'work'; readonly partition: -1; readonly hook: string; readonly page: Uint8Array }
  | { readonly kind: 'done'; readonly partition: -1; readonly id: string; readonly bytes: number }

/** A request that no page leads to: nobody would find it again. */
interface Root {
  readonly partition: number
  readonly line: string
  /** The commit of the crawl that stored it, and the number of that commit here; infinite before it is stored. */
  seq: number
  commit: number
}

/** What one commit takes from the journal. */
export interface Piece {
  readonly operations: readonly Operation[]
  /** How it changes the number of requests and letters that are left in the crawl. */
  readonly left: number
}

/** What the journal asks of others when a commit is put together. */
export interface JournalSources {
  /** Hosts that changed: their records, '' for none. */
  hosts(): Iterable<readonly [partition: number, host: string, record: string]>
  /**
   * Partitions whose range of blocks changed. Unless this is `all`, changes are left: the range must begin where it did, because
   * blocks that are empty here may not be so in Redis yet.
   */
  ranges(isAll: boolean): Iterable<readonly [partition: number, range: string]>
}

/**
 * Changes that are decided in memory and not in Redis yet. The frontier, the state and the exchange fill it; commits empty
 * it, from the front, so that a page is never settled without the links that were found on it.
 */
export class Journal {
  #changes: Change[] = []
  /** What a commit was sent with, until it is stored. */
  #sent: readonly Change[] = []
  #sentRecords = new Map<string, Map<string, string | null>>()
  /** Records by key of their hash, then by field; null: deleted. They go with the last piece. */
  #records = new Map<string, Map<string, string | null>>()
  readonly #writers: (() => void)[] = []
  #waiting: (() => void)[] = []
  #roots: Root[] = []
  #hasAllRoots = true
  /** Commits that were stored. */
  #commits = 0
  #sources: JournalSources | undefined = undefined
  /** Bytes of documents that are here and not in Redis, and of those that are on their way here. */
  #workBytes = 0
  #reservedBytes = 0
  #isTouched = false
  #failure: KumoError | undefined = undefined

  /** Must be called before the first commit. */
  connect(sources: JournalSources): void {
    this.#sources = sources
  }

  /** `isNew` false: it takes the place of one that Redis has. */
  add(partition: number, number: number, line: string, isNew: boolean): void {
    this.#changes.push({ kind: 'add', partition, number, line, isNew })
  }

  /** `isLast`: nothing is left in its block. */
  remove(partition: number, number: number, isLast: boolean): void {
    this.#changes.push({ kind: 'remove', partition, number, isLast })
  }

  /** A URL counts as seen from the commit that stores its request. */
  print(partition: number, low: number, high: number): void {
    this.#changes.push({ kind: 'print', partition, low, high })
  }

  /** A request for a partition of another node. */
  mail(partition: number, line: string): void {
    const last = this.#changes.at(-1)
    if (last?.kind === 'mail' && last.partition === partition && last.lines.length < MAIL_LINES)
      last.lines.push(line)
    else this.#changes.push({ kind: 'mail', partition, lines: [line] })
  }

  /** The program asked for this request. It was added, or mailed, as others are. */
  root(partition: number, line: string): void {
    this.#roots.push({
      partition,
      line,
      seq: Number.POSITIVE_INFINITY,
      commit: Number.POSITIVE_INFINITY,
    })
    if (this.#roots.length <= MOST_ROOTS) return
    this.#roots.splice(0, this.#roots.length - MOST_ROOTS)
    this.#hasAllRoots = false
  }

  /** Whether it remembers every request of the program, so that a crawl could begin again with them. */
  get hasAllRoots(): boolean {
    return this.#hasAllRoots
  }

  /** Letters of other nodes whose requests are in this journal; `next` is the first ID that is not. */
  take(partition: number, next: string, entries: number): void {
    this.#changes.push({ kind: 'take', partition, next, entries })
  }

  /** `to`: the node that takes it; undefined for whoever comes. */
  give(partition: number, to?: string): void {
    this.#changes.push({ kind: 'give', partition, to })
  }

  /** URLs that the program has added, for all nodes to know. */
  seeds(urls: readonly string[]): void {
    for (let i = 0; i < urls.length; i += SEEDS_AT_ONCE)
      this.#changes.push({ kind: 'seeds', partition: -1, urls: urls.slice(i, i + SEEDS_AT_ONCE) })
  }

  /** A page for a hook of another node. The request of the page must be removed after it. */
  work(hook: string, page: Uint8Array): void {
    this.#changes.push({ kind: 'work', partition: -1, hook, page })
    this.#workBytes += page.byteLength
    this.reserveWork(-page.byteLength)
  }

  reserveWork(bytes: number): void {
    // What was reserved before a loss may be released after it.
    this.#reservedBytes = Math.max(0, this.#reservedBytes + bytes)
  }

  /** A document of another node is done. */
  done(id: string, bytes: number): void {
    this.#changes.push({ kind: 'done', partition: -1, id, bytes })
  }

  /** With what is reserved. */
  get workBytes(): number {
    return this.#workBytes + this.#reservedBytes
  }

  /** The work that this node has. */
  load(node: string, load: string): void {
    this.#changes.push({ kind: 'load', partition: -1, node, load })
  }

  /** `json` null: the record is deleted. */
  record(key: string, field: string, json: string | null): void {
    const fields = this.#records.get(key) ?? new Map<string, string | null>()
    fields.set(field, json)
    this.#records.set(key, fields)
  }

  /** A record that is not committed yet: null if it is deleted, undefined if there is none. */
  recorded(key: string, field: string): string | null | undefined {
    const record = this.#records.get(key)?.get(field)
    return record === undefined ? this.#sentRecords.get(key)?.get(field) : record
  }

  /** A host or a range of blocks changed. */
  touch(): void {
    this.#isTouched = true
  }

  /** Registers a function to call before each commit. */
  onCommit(write: () => void): void {
    this.#writers.push(write)
  }

  get isEmpty(): boolean {
    return this.#changes.length === 0 && this.#records.size === 0 && !this.#isTouched
  }

  /** Undefined if few changes wait; otherwise resolves when few do. */
  whenCaughtUp(): Promise<void> | undefined {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#changes.length < BEHIND) return undefined
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** Calls what was registered with `onCommit`. */
  prepare(): void {
    for (const write of this.#writers) write()
  }

  /** Takes what the next commit stores. `isAll`: nothing is left here. */
  takePiece(): Piece & { readonly isAll: boolean } {
    const count = this.#countOfPiece()
    const changes = this.#changes.splice(0, count)
    this.#sent = changes
    const isAll = this.#changes.length === 0
    const { operations, left } = grouped(changes)
    const extra: Operation[] = []
    if (this.#isTouched) {
      this.#isTouched = !isAll
      for (const [partition, host, record] of this.#sources!.hosts())
        extra.push(
          record === '' ? ['HDEL', `:h:${partition}`, host] : ['HSET', `:h:${partition}`, host, record],
        )
      for (const [partition, range] of this.#sources!.ranges(isAll))
        extra.push(['HSET', ':q', String(partition), range])
    }
    if (isAll) extra.push(...this.#takeRecords())
    if (this.#changes.length < BEHIND) for (const resolve of this.#waiting.splice(0)) resolve()
    return { operations: [...operations, ...extra], left, isAll }
  }

  /** What the last piece held is in Redis, by the commit `seq` of the crawl. */
  stored(seq: number): void {
    this.#forgetSent()
    const commit = ++this.#commits
    if (this.#roots.length === 0) return
    if (this.#changes.length === 0) {
      for (const root of this.#roots)
        if (root.seq === Number.POSITIVE_INFINITY) Object.assign(root, { seq, commit })
    }
    if (this.#roots[0]!.commit >= commit - ROOT_COMMITS) return
    this.#roots = this.#roots.filter((root) => root.commit >= commit - ROOT_COMMITS)
    this.#hasAllRoots = false
  }

  /**
   * What this node decided is void. Requests that it found are not: they become mail to the owners of their hosts, who
   * drop those that they know. So do requests of the program that were stored after the commit `base`, which is the last
   * that the server has. Records of the crawl itself stay too.
   */
  discard(base: number): void {
    const found = [...this.#sent, ...this.#changes]
    this.#changes = []
    this.#forgetSent()
    this.#workBytes = 0
    this.#reservedBytes = 0
    this.#isTouched = false
    for (const key of this.#records.keys()) if (key !== CRAWL_RECORDS) this.#records.delete(key)
    for (const change of found) {
      if (change.kind === 'add' && change.isNew) this.mail(change.partition, change.line)
      else if (change.kind === 'mail') for (const line of change.lines) this.mail(change.partition, line)
      else if (change.kind === 'seeds') this.#changes.push(change)
    }
    for (const { partition, line, seq } of this.#roots)
      if (seq > base && seq !== Number.POSITIVE_INFINITY) this.mail(partition, line)
    for (const root of this.#roots) root.seq = Number.POSITIVE_INFINITY
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #forgetSent(): void {
    for (const change of this.#sent) if (change.kind === 'work') this.#workBytes -= change.page.byteLength
    this.#sent = []
    this.#sentRecords = new Map()
  }

  fail(error: KumoError): void {
    this.#failure = error
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #countOfPiece(): number {
    let count = 0
    for (let characters = 0; count < this.#changes.length && count < MOST_OPERATIONS - HEADROOM; count++) {
      const change = this.#changes[count]!
      if (change.kind === 'add') characters += change.line.length
      else if (change.kind === 'mail') for (const line of change.lines) characters += line.length
      else if (change.kind === 'seeds') for (const url of change.urls) characters += url.length
      else if (change.kind === 'work') characters += change.page.byteLength / BYTES_PER_CHARACTER
      if (characters > MOST_CHARACTERS && count > 0) break
    }
    return count
  }

  #takeRecords(): Operation[] {
    const operations: Operation[] = []
    for (const [key, fields] of this.#records) {
      let put: string[] = []
      const dropped: string[] = []
      for (const [field, json] of fields) {
        if (json === null) dropped.push(field)
        else put.push(field, json)
        if (put.length >= MOST_ARGUMENTS) {
          operations.push(['HSET', key, ...put])
          put = []
        }
      }
      if (put.length > 0) operations.push(['HSET', key, ...put])
      for (let i = 0; i < dropped.length; i += MOST_ARGUMENTS)
        operations.push(['HDEL', key, ...dropped.slice(i, i + MOST_ARGUMENTS)])
    }
    this.#sentRecords = this.#records
    this.#records = new Map()
    return operations
  }
}

/** Room for hosts, ranges and records. */
const HEADROOM = 512

/** The operations of some changes, one for each key where that is possible. */
function grouped(changes: readonly Change[]): Piece {
  const added = new Map<string, string[]>()
  const prints = new Map<number, number[]>()
  const removed: [key: string, at: string][] = []
  const dropped = new Set<string>()
  const rest: Operation[] = []
  let left = 0
  for (const change of changes) {
    const { partition } = change
    switch (change.kind) {
      case 'add': {
        left++
        push(added, blockKey(partition, change.number), change.line)
        break
      }
      case 'remove': {
        left--
        const key = blockKey(partition, change.number)
        if (change.isLast) dropped.add(key)
        else removed.push([key, String(change.number % BLOCK)])
        break
      }
      case 'print':
        push(prints, partition, change.low, change.high)
        break
      case 'mail':
        left++
        rest.push(['mail', String(partition), ...change.lines])
        break
      case 'take':
        left -= change.entries
        rest.push(['take', String(partition), change.next])
        break
      case 'give':
        rest.push(['give', String(partition), ...(change.to === undefined ? [] : [change.to])])
        break
      case 'seeds':
        rest.push(['RPUSH', ':seeds', ...change.urls])
        rest.push(['LTRIM', ':seeds', String(-MOST_SEEDS), '-1'])
        rest.push(['HINCRBY', ':n', 'seeds', String(change.urls.length)])
        break
      case 'load':
        rest.push(['HSET', ':load', change.node, change.load])
        break
      case 'work':
        left++
        rest.push(['work', change.hook, change.page])
        break
      case 'done':
        // The script changes what is left: somebody else may have done it.
        rest.push(['done', change.id, String(change.bytes)])
    }
  }
  const operations: Operation[] = []
  for (const [key, lines] of added) if (!dropped.has(key)) operations.push(['RPUSH', key, ...lines])
  for (const [key, at] of removed) if (!dropped.has(key)) operations.push(['LSET', key, at, ''])
  for (const key of dropped) operations.push(['DEL', key])
  for (const [partition, words] of prints)
    operations.push(['RPUSH', `:s:${partition}`, bytesOf(Uint32Array.from(words))])
  return { operations: [...operations, ...rest], left }
}

function blockKey(partition: number, number: number): string {
  return `:q:${partition}:${Math.floor(number / BLOCK)}`
}

function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
}

function push<K, V>(lists: Map<K, V[]>, key: K, ...values: V[]): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, values)
  else list.push(...values)
}
