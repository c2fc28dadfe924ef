/**
 * The gate at every host: it knows when to ask for robots.txt, how long to believe it, and what to do while it cannot
 * be had. What an answer means is decided in robots-standing.ts, what rules say in robots-rules.ts.
 */

import { owned } from '../../owned.js'
import { type Random, systemRandom } from '../../time.js'
import type { CrawlRequest } from '../../types.js'
import { originOf, pathOf } from '../../url/canonicalize.js'
import type { Outcome } from '../contract.js'
import type { RobotsGate, RobotsVerdict } from './contract.js'
import { comparable } from './group.js'
import { byteText } from './lines.js'
import { Generations } from './memory.js'
import { productName, sitemapsIn } from './parse.js'
import { SitemapShelf } from './sitemaps.js'
import {
  type Habits,
  type Known,
  type RobotsRecord,
  recordOf,
  type Standing,
  standingAfter,
  standingFrom,
  unknown,
  weightOf,
} from './standing.js'

export { productName } from './parse.js'

export interface RobotsOptions {
  /** The user agent that is sent; its product name is looked for in the groups. */
  readonly userAgent: string
  /** Scatters retries. Default: chance. */
  readonly random?: Random | undefined
  /**
   * Most origins whose rules are remembered once they were used. With more, those not asked about lately are forgotten,
   * many at a time. Default 100,000.
   */
  readonly maxHosts?: number | undefined
  /** Most origins whose rules wait for their first use. With more, no others are asked for a while. Default 100,000. */
  readonly maxWaiting?: number | undefined
  /** How long rules are believed. Default and upper bound 24 h, as RFC 9309 (2.4) asks. */
  readonly cacheMs?: number | undefined
  /** How often to ask for rules that cannot be had before the host is taken to forbid everything. Default 3. */
  readonly maxTries?: number | undefined
  /** The longest Crawl-delay that is honoured; a longer one counts as this. Default 60 s. */
  readonly maxDelayMs?: number | undefined
  /** Sitemaps to try at every origin, besides those that its robots.txt names. Default none. */
  readonly sitemaps?: readonly string[] | undefined
}

/** The gate, and what it has learned as plain data, for a store to keep. */
export interface RememberingGate extends RobotsGate {
  /** All that is known, origin by origin. */
  records(): Iterable<RobotsRecord>
  record(origin: string): RobotsRecord | undefined
  restore(record: unknown): void
}

/** An origin that allows all takes about 150 bytes with its name (measured), so that this is some 15 MB. */
const DEFAULT_MAX_HOSTS = 100_000
const DAY_MS = 24 * 3_600_000
const DEFAULT_MAX_TRIES = 3
const DEFAULT_MAX_DELAY_MS = 60_000

/** In bytes of the rules that apply to us; once for those in use, once for those that wait. */
const MAX_WEIGHT = 16 * 1024 * 1024

/** How long hosts that were not asked yet are put off while too many wait. In that time those that wait come first. */
const POSTPONE_MS = 10_000
/** So long after it became too much, what still waits has no page left, or its turn is too far away to wait for. */
const PATIENCE_MS = 3_600_000

const ROBOTS_FILE = '/robots.txt'

/** Makes the gate of one crawl. */
export function robotsGate(options: RobotsOptions): RememberingGate {
  return new Gate(options)
}

class Gate implements RememberingGate {
  readonly #habits: Habits
  readonly #maxHosts: number
  readonly #maxWaiting: number
  readonly #maxDelayMs: number
  /**
   * By origin, what was learned and has not answered for a page yet. Filled by `learn`, emptied by `check`; nothing here
   * is forgotten or grows too old. Otherwise, with more origins than there is room for or a turn a day, each would be
   * forgotten before its turn comes back, and robots.txt would be fetched for ever and no page.
   *
   * It is bounded by asking no further host while it is full (`#drainingSince`), until half of it was used.
   */
  readonly #waiting = new Map<string, Standing>()
  #waitingWeight = 0
  #drainingSince: number | undefined
  /** What has answered for a page and may be forgotten. Filled by `check`. */
  readonly #used = new Generations<Known>(weightOf)
  readonly #sitemaps = new SitemapShelf()
  readonly #wellKnownSitemaps: readonly string[]

  constructor(options: RobotsOptions) {
    const random = options.random ?? systemRandom()
    this.#habits = {
      product: productName(options.userAgent),
      cacheMs: Math.min(options.cacheMs ?? DAY_MS, DAY_MS),
      maxTries: options.maxTries ?? DEFAULT_MAX_TRIES,
      chance: () => random.next(),
    }
    this.#maxHosts = options.maxHosts ?? DEFAULT_MAX_HOSTS
    this.#maxWaiting = options.maxWaiting ?? DEFAULT_MAX_HOSTS
    this.#maxDelayMs = options.maxDelayMs ?? DEFAULT_MAX_DELAY_MS
    this.#wellKnownSitemaps = options.sitemaps ?? []
  }

  check(request: CrawlRequest, now: number): RobotsVerdict {
    const origin = originOf(request.url)
    const standing = this.#standing(origin, now)
    if (standing.kind === 'unknown') {
      if (standing.notBefore > now) return { retryAt: standing.notBefore }
      const isNew = !this.#waiting.has(origin)
      return isNew && this.#isDraining(now) ? { retryAt: now + POSTPONE_MS } : { fetch: standing.ask }
    }
    this.#use(origin, standing)
    if (standing.kind === 'unreachable') return { failed: standing.failed }
    if (standing.kind === 'allow') return 'allow'
    const path = pathOf(request.url)
    // The rules themselves are always open to read.
    if (path === ROBOTS_FILE) return 'allow'
    return standing.kind === 'rules' && standing.group.rules.allows(comparable(path)) ? 'allow' : 'deny'
  }

  learn(origin: string, fetched: string, outcome: Outcome, now: number): void {
    // Stopped before there was an answer, which says nothing about the host.
    if (!outcome.ok && outcome.code === 'aborted') return
    const asked = this.#standing(origin, now)
    // Two requests of one host may both have been told to fetch; the second answer brings nothing new.
    if (asked.kind !== 'unknown' || asked.ask !== fetched || asked.notBefore > now) return
    const learned = standingAfter(origin, asked, outcome, now, this.#habits)
    this.#wait(origin, learned, now)
    if (outcome.ok && learned.failures === 0 && learned.kind !== 'unknown') {
      this.#sitemaps.put(origin, sitemapsIn(byteText(outcome.body)), fetched)
    }
  }

  delayMs(request: CrawlRequest): number | undefined {
    const origin = originOf(request.url)
    const standing = this.#waiting.get(origin) ?? this.#used.get(origin)
    const known = standing?.kind === 'unknown' ? standing.before : standing
    if (known?.kind !== 'rules' || !known.group.delay) return undefined
    return Math.min(known.group.delay * 1000, this.#maxDelayMs)
  }

  takeSitemaps(origin: string): readonly string[] {
    return [...this.#sitemaps.take(origin), ...this.#wellKnownSitemaps]
  }

  record(origin: string): RobotsRecord | undefined {
    const standing = this.#waiting.get(origin) ?? this.#used.get(origin)
    if (standing === undefined || standing.kind === 'unknown') return undefined
    return recordOf(origin, standing, this.#habits.product)
  }

  *records(): Generator<RobotsRecord> {
    for (const standings of [this.#waiting, this.#used]) {
      for (const [origin, standing] of standings) {
        if (standing.kind !== 'unknown') yield recordOf(origin, standing, this.#habits.product)
      }
    }
  }

  restore(kept: unknown): void {
    if (typeof kept !== 'object' || kept === null) return
    const record = kept as RobotsRecord
    const standing = standingFrom(record, this.#habits.product)
    if (standing === undefined || this.#waiting.has(record.origin)) return
    this.#use(record.origin, standing)
  }

  /** What is known now. What waits for its first use is believed, however long it has waited. */
  #standing(origin: string, now: number): Standing {
    const waiting = this.#waiting.get(origin)
    if (waiting !== undefined) return waiting
    const used = this.#used.get(origin)
    return used !== undefined && used.until > now ? used : unknown(origin, used)
  }

  #wait(origin: string, learned: Standing, now: number): void {
    this.#used.delete(origin)
    this.#stopWaiting(origin)
    const weight = weightOf(learned)
    // Many large files at once: this one is asked for again when there is room.
    if (this.#waitingWeight + weight > MAX_WEIGHT * 2) return
    this.#waiting.set(owned(origin), learned)
    this.#waitingWeight += weight
    if (this.#waiting.size >= this.#maxWaiting || this.#waitingWeight >= MAX_WEIGHT) {
      this.#drainingSince ??= now
    }
  }

  /** From now on the origin is one that may be forgotten. */
  #use(origin: string, standing: Known): void {
    this.#stopWaiting(origin)
    this.#used.use(origin, standing)
    this.#used.fit(this.#maxHosts, MAX_WEIGHT)
    if (this.#waiting.size * 2 <= this.#maxWaiting && this.#waitingWeight * 2 <= MAX_WEIGHT) {
      this.#drainingSince = undefined
    }
  }

  #stopWaiting(origin: string): void {
    const standing = this.#waiting.get(origin)
    if (standing === undefined) return
    this.#waiting.delete(origin)
    this.#waitingWeight -= weightOf(standing)
  }

  /**
   * Whether so much waits that no new host should be asked. Each time this either ends with half of it used, or lasts
   * for an hour of visits to what waits: in both cases pages were fetched, so a crawl goes on whatever its size.
   */
  #isDraining(now: number): boolean {
    if (this.#drainingSince === undefined) return false
    if (now - this.#drainingSince < PATIENCE_MS) return true
    for (const [origin, standing] of this.#waiting) {
      if (standing.kind === 'unknown') this.#stopWaiting(origin)
      else this.#use(origin, standing)
    }
    this.#drainingSince = undefined
    return false
  }
}
