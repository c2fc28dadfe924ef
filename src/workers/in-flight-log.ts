/**
 * The visits that a shard has in flight, in memory shared with the main thread, which reads it when the thread dies. A
 * visit occupies a slot; a slot holds the request as text.
 */

import type { CrawlRequest } from '../types.js'
import { hostOf } from '../url/canonicalize.js'
import { knownAs } from '../url/known-as.js'

/** Header words: the slot that user code is running for, waiting requests, settled pages, sent requests. */
const CURRENT = 0
const WAITING = 1
const PAGES = 2
const SENT = 3
/** Changes with everything the thread does for a visit. */
const HEARTBEAT = 4
const HEADER_WORDS = 5
const HEADER_BYTES = 4 * HEADER_WORDS
const SLOT_BYTES = 2048
/** Offset of the text in a slot, after its length. */
const TEXT_OFFSET = 4
const NO_SLOT = -1
/** Flag in a slot's length: user code was called for this visit. */
const HANDLED = 2 ** 31
/** Instead of a request that does not fit into a slot. */
const ELSEWHERE = '-'

/** A visit that was in flight when a thread died. */
export interface InterruptedVisit {
  readonly request: Pick<CrawlRequest, 'url' | 'depth' | 'priority' | 'attempt' | 'parent' | 'extras'>
  /**
   * `current`: user code was running for it. `handled`: user code had been called and was waiting for a
   * promise. `fetched`: user code had not been called yet.
   */
  readonly state: 'current' | 'handled' | 'fetched'
}

export function inFlightMemory(visits: number): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(HEADER_BYTES + visits * SLOT_BYTES)
  new Int32Array(memory, 0, HEADER_WORDS)[CURRENT] = NO_SLOT
  return memory
}

/** Written by the thread that visits. */
export class SharedInFlightLog {
  readonly #header: Int32Array
  readonly #lengths: Uint32Array
  readonly #bytes: Buffer
  readonly #slots = new Map<CrawlRequest, number>()
  readonly #free: number[] = []
  readonly #fatal: ReadonlyMap<string, string>

  readonly #keep: KeepLarge
  readonly #large = new Set<number>()

  /** `fatal`: requests that must not be tried again, as the seen-set knows them, and why. */
  constructor(memory: SharedArrayBuffer, fatal: ReadonlyMap<string, string>, keep: KeepLarge = () => {}) {
    const slots = (memory.byteLength - HEADER_BYTES) / SLOT_BYTES
    this.#header = new Int32Array(memory, 0, HEADER_WORDS)
    this.#lengths = new Uint32Array(memory)
    this.#bytes = Buffer.from(memory)
    for (let slot = slots - 1; slot >= 0; slot--) this.#free.push(slot)
    this.#fatal = fatal
    this.#keep = keep
  }

  fatal(request: CrawlRequest): string | undefined {
    return this.#fatal.size === 0 ? undefined : this.#fatal.get(knownAs(request))
  }

  start(request: CrawlRequest): void {
    const slot = this.#free.pop()
    // More visits than planned for: the surplus cannot be logged.
    if (slot === undefined) return
    this.#slots.set(request, slot)
    const at = HEADER_BYTES + slot * SLOT_BYTES
    const { url, depth, priority, attempt, parent, purpose, extras } = request
    // A robots.txt or sitemap request is sent again by the visit that needs it.
    let text = purpose === undefined ? `${depth} ${priority} ${attempt} ${url} ${parent ?? ''}` : ''
    if (extras !== undefined && text !== '') text += ` ${asLatin1(JSON.stringify(extras))}`
    if (text.length > SLOT_BYTES - TEXT_OFFSET) {
      this.#large.add(slot)
      this.#keep(slot, { url, depth, priority, attempt, parent, ...(extras && { extras }) })
      text = ELSEWHERE
    }
    this.#lengths[lengthAt(slot)] = this.#bytes.write(text, at + TEXT_OFFSET, 'latin1')
  }

  sent(total: number): void {
    this.#header[SENT] = total
  }

  enter(request: CrawlRequest): void {
    const slot = this.#slots.get(request) ?? NO_SLOT
    this.#header[CURRENT] = slot
    this.#heartbeat()
    if (slot === NO_SLOT) return
    const at = lengthAt(slot)
    this.#lengths[at] = (this.#lengths[at]! | HANDLED) >>> 0
  }

  recordProgress(waiting: number, pages: number): void {
    this.#header[WAITING] = waiting
    this.#header[PAGES] = pages
    this.#heartbeat()
  }

  leave(): void {
    this.#header[CURRENT] = NO_SLOT
    this.#heartbeat()
  }

  end(request: CrawlRequest): void {
    const slot = this.#slots.get(request)
    if (slot === undefined) return
    this.#slots.delete(request)
    this.#lengths[lengthAt(slot)] = 0
    this.#free.push(slot)
    if (this.#large.delete(slot)) this.#keep(slot, undefined)
  }

  #heartbeat(): void {
    this.#header[HEARTBEAT] = (this.#header[HEARTBEAT]! + 1) | 0
  }
}

/** Tells the main thread about a request that does not fit into its slot; undefined: its visit is over. */
export type KeepLarge = (slot: number, request: InterruptedVisit['request'] | undefined) => void

/** JSON with one byte per character. */
function asLatin1(json: string): string {
  return json.replace(/[^\0-\xff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** Index of the word that holds the length of a slot's text. */
function lengthAt(slot: number): number {
  return (HEADER_BYTES + slot * SLOT_BYTES) / Uint32Array.BYTES_PER_ELEMENT
}

/** The last state that a shard wrote. */
export interface LastState {
  /** Requests that were waiting, and pages that were settled. */
  readonly waiting: number
  readonly pages: number
  /** Requests that it had sent in this run and, with a durable store, before; 0 if it sent none. */
  readonly sent: number
  readonly heartbeat: number
}

export function lastState(memory: SharedArrayBuffer): LastState {
  const header = new Int32Array(memory, 0, HEADER_WORDS)
  return {
    waiting: header[WAITING]!,
    pages: header[PAGES]!,
    sent: header[SENT]!,
    heartbeat: Atomics.load(header, HEARTBEAT),
  }
}

/** Read by the main thread once the worker is dead. `large` are the requests that did not fit into their slots. */
export function interruptedVisits(
  memory: SharedArrayBuffer,
  large: ReadonlyMap<number, InterruptedVisit['request']> = new Map(),
): InterruptedVisit[] {
  const bytes = Buffer.from(memory)
  const current = new Int32Array(memory, 0, HEADER_WORDS)[CURRENT]
  const found: InterruptedVisit[] = []
  for (let slot = 0, at = HEADER_BYTES; at < bytes.length; slot++, at += SLOT_BYTES) {
    const word = bytes.readUInt32LE(at)
    const length = word & ~HANDLED
    if (length === 0) continue
    const text = bytes.toString('latin1', at + TEXT_OFFSET, at + TEXT_OFFSET + length)
    const request = text === ELSEWHERE ? large.get(slot) : readRequest(text)
    if (request === undefined) continue
    const state = slot === current ? 'current' : word >= HANDLED ? 'handled' : 'fetched'
    found.push({ request, state })
  }
  return found
}

function readRequest(text: string): InterruptedVisit['request'] {
  const [depth, priority, attempt, url, parent, ...extras] = text.split(' ')
  return {
    url: url!,
    depth: Number(depth),
    priority: Number(priority),
    attempt: Number(attempt),
    parent: parent === '' ? undefined : parent,
    ...(extras.length > 0 && { extras: JSON.parse(extras.join(' ')) }),
  }
}

/** Recreates the request of a visit that its thread did not survive. */
export function retryOf({ request }: InterruptedVisit): CrawlRequest {
  return { ...request, host: hostOf(request.url), attempt: request.attempt + 1, redirects: 0 }
}
