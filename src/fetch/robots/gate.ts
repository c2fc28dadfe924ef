/**
 * Decides when to fetch the robots.txt of an origin, how long its rules are valid, and what happens to requests while it
 * is unreachable. state.ts interprets the response, rules.ts matches paths.
 */

import { owned } from '../../owned.js'
import { type Random, systemRandom } from '../../time.js'
import type { CrawlRequest } from '../../types.js'
import { hostOf, originOf, pathOf } from '../../url/canonicalize.js'
import type { Outcome } from '../contract.js'
import type { RobotsGate, RobotsVerdict } from './contract.js'
import { comparable } from './group.js'
import { byteText } from './lines.js'
import { Generations } from './memory.js'
import { productName, sitemapsIn } from './parse.js'
import { PendingSitemaps } from './sitemaps.js'
import {
  type Known,
  type RobotsPolicy,
  type RobotsRecord,
  type RobotsState,
  recordOf,
  stateAfter,
  stateFrom,
  unknown,
  weightOf,
} from './state.js'

export { productName } from './parse.js'

export interface RobotsOptions {
  /** The user agent that is sent; groups are matched with its product token. */
  readonly userAgent: string
  /** The user agent that is sent to a host, if it differs. */
  readonly userAgentFor?: ((host: string) => string | undefined) | undefined
  /** Adds jitter to retries. Default: a random source. */
  readonly random?: Random | undefined
  /**
   * Maximum number of origins whose rules stay in memory after their first use. Beyond it, the least recently used are
   * evicted, many at a time. Default 100,000.
   */
  readonly maxHosts?: number | undefined
  /**
   * Maximum number of origins whose rules wait for their first use. At the limit, no other robots.txt is fetched for a
   * while. Default 100,000.
   */
  readonly maxWaiting?: number | undefined
  /** How long rules are cached. Default and maximum 24 h (RFC 9309, 2.4). */
  readonly cacheMs?: number | undefined
  /** Attempts to fetch an unreachable robots.txt before everything counts as disallowed. Default 3. */
  readonly maxTries?: number | undefined
  /** The longest Crawl-delay; a longer one counts as this. Default 60 s. */
  readonly maxDelayMs?: number | undefined
  /** Sitemaps to try at every origin, besides those that its robots.txt names. Default none. */
  readonly sitemaps?: readonly string[] | undefined
}

/** A gate whose rules a store can keep as plain data. */
export interface RememberingGate extends RobotsGate {
  /** The rules of every known origin. */
  records(): Iterable<RobotsRecord>
  record(origin: string): RobotsRecord | undefined
  restore(record: unknown): void
}

/** An origin that allows everything takes about 150 bytes with its name (measured): 15 MB in total. */
const DEFAULT_MAX_HOSTS = 100_000
const DAY_MS = 24 * 3_600_000
const DEFAULT_MAX_TRIES = 3
const DEFAULT_MAX_DELAY_MS = 60_000

/** Bytes of rules: once for those in use, once for those that wait for their first use. */
const MAX_WEIGHT = 16 * 1024 * 1024

/** How long new hosts are postponed while too many wait for their first use. */
const POSTPONE_MS = 10_000
/** Rules that still wait after this time have no page left, or one that is due too far in the future. */
const PATIENCE_MS = 3_600_000

const ROBOTS_FILE = '/robots.txt'

/** Creates the gate of a crawl. */
export function robotsGate(options: RobotsOptions): RememberingGate {
  return new Gate(options)
}

class Gate implements RememberingGate {
  readonly #policy: RobotsPolicy
  readonly #userAgentFor: RobotsOptions['userAgentFor']
  readonly #maxHosts: number
  readonly #maxWaiting: number
  readonly #maxDelayMs: number
  /**
   * By origin, rules that have not been used for a page yet. Filled by `learn`, emptied by `check`. They are never
   * evicted and do not expire: with more origins than fit, or one visit a day, each would be gone before its next visit,
   * and the crawl would fetch robots.txt for ever and never a page.
   *
   * While it is full (`#drainingSince`), no new host is asked, until half of it has been used.
   */
  readonly #waiting = new Map<string, RobotsState>()
  #waitingWeight = 0
  #drainingSince: number | undefined
  /** Rules that have been used for a page and may be evicted. Filled by `check`. */
  readonly #used = new Generations<Known>(weightOf)
  readonly #sitemaps = new PendingSitemaps()
  readonly #wellKnownSitemaps: readonly string[]

  constructor(options: RobotsOptions) {
    const random = options.random ?? systemRandom()
    this.#userAgentFor = options.userAgentFor
    this.#policy = {
      productName: productName(options.userAgent),
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
    const state = this.#state(origin, now)
    if (state.kind === 'unknown') {
      if (state.notBefore > now) return { retryAt: state.notBefore }
      const isNew = !this.#waiting.has(origin)
      return isNew && this.#isDraining(now) ? { retryAt: now + POSTPONE_MS } : { fetch: state.ask }
    }
    this.#use(origin, state)
    if (state.kind === 'unreachable') return { failed: state.failed }
    if (state.kind === 'allow') return 'allow'
    const path = pathOf(request.url)
    // robots.txt itself is always allowed (RFC 9309, 2.2.2).
    if (path === ROBOTS_FILE) return 'allow'
    return state.kind === 'rules' && state.group.rules.allows(comparable(path)) ? 'allow' : 'deny'
  }

  learn(origin: string, fetched: string, outcome: Outcome, now: number): void {
    // An aborted fetch says nothing about the host.
    if (!outcome.ok && outcome.code === 'aborted') return
    const asked = this.#state(origin, now)
    // Two requests to one host may both have led to a fetch; only the first answer counts.
    if (asked.kind !== 'unknown' || asked.ask !== fetched || asked.notBefore > now) return
    const policy = { ...this.#policy, productName: this.#productFor(origin) }
    const learned = stateAfter(origin, asked, outcome, now, policy)
    this.#wait(origin, learned, now)
    if (outcome.ok && learned.failures === 0 && learned.kind !== 'unknown') {
      this.#sitemaps.put(origin, sitemapsIn(byteText(outcome.body)), fetched)
    }
  }

  delayMs(request: CrawlRequest): number | undefined {
    const origin = originOf(request.url)
    const state = this.#waiting.get(origin) ?? this.#used.get(origin)
    const known = state?.kind === 'unknown' ? state.before : state
    if (known?.kind !== 'rules' || !known.group.delay) return undefined
    return Math.min(known.group.delay * 1000, this.#maxDelayMs)
  }

  takeSitemaps(origin: string): readonly string[] {
    return [...this.#sitemaps.take(origin), ...this.#wellKnownSitemaps]
  }

  record(origin: string): RobotsRecord | undefined {
    const state = this.#waiting.get(origin) ?? this.#used.get(origin)
    if (state === undefined || state.kind === 'unknown') return undefined
    return recordOf(origin, state, this.#productFor(origin))
  }

  *records(): Generator<RobotsRecord> {
    for (const states of [this.#waiting, this.#used]) {
      for (const [origin, state] of states) {
        if (state.kind !== 'unknown') yield recordOf(origin, state, this.#productFor(origin))
      }
    }
  }

  restore(kept: unknown): void {
    if (typeof kept !== 'object' || kept === null) return
    const record = kept as RobotsRecord
    const state = stateFrom(record, this.#productFor(record.origin))
    if (state === undefined || this.#waiting.has(record.origin)) return
    this.#use(record.origin, state)
  }

  #productFor(origin: string): string {
    const userAgent = this.#userAgentFor?.(hostOf(`${origin}/`))
    return userAgent === undefined ? this.#policy.productName : productName(userAgent)
  }

  /** The current state. Rules that wait for their first use are valid however long they have waited. */
  #state(origin: string, now: number): RobotsState {
    const waiting = this.#waiting.get(origin)
    if (waiting !== undefined) return waiting
    const used = this.#used.get(origin)
    return used !== undefined && used.until > now ? used : unknown(origin, used)
  }

  #wait(origin: string, learned: RobotsState, now: number): void {
    this.#used.delete(origin)
    this.#stopWaiting(origin)
    const weight = weightOf(learned)
    // Too many large files at once: this one is fetched again when there is room.
    if (this.#waitingWeight + weight > MAX_WEIGHT * 2) return
    this.#waiting.set(owned(origin), learned)
    this.#waitingWeight += weight
    if (this.#waiting.size >= this.#maxWaiting || this.#waitingWeight >= MAX_WEIGHT) {
      this.#drainingSince ??= now
    }
  }

  /** Marks the rules of an origin as used, so that they may be evicted. */
  #use(origin: string, state: Known): void {
    this.#stopWaiting(origin)
    this.#used.use(origin, state)
    this.#used.fit(this.#maxHosts, MAX_WEIGHT)
    if (this.#waiting.size * 2 <= this.#maxWaiting && this.#waitingWeight * 2 <= MAX_WEIGHT) {
      this.#drainingSince = undefined
    }
  }

  #stopWaiting(origin: string): void {
    const state = this.#waiting.get(origin)
    if (state === undefined) return
    this.#waiting.delete(origin)
    this.#waitingWeight -= weightOf(state)
  }

  /**
   * Whether so many rules wait that no new robots.txt may be fetched. It ends when half of them have been used, or after
   * an hour of visits to the hosts that wait. Pages are fetched in both cases, so a crawl of any size makes progress.
   */
  #isDraining(now: number): boolean {
    if (this.#drainingSince === undefined) return false
    if (now - this.#drainingSince < PATIENCE_MS) return true
    for (const [origin, state] of this.#waiting) {
      if (state.kind === 'unknown') this.#stopWaiting(origin)
      else this.#use(origin, state)
    }
    this.#drainingSince = undefined
    return false
  }
}
