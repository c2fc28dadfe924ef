/**
 * What hosts publish in robots.txt, in its simple form: the rules are read by robots-parser, and this file decides
 * when to ask for them, how long to believe them, and what to do while they cannot be had.
 */

import type { default as robotsParser } from 'robots-parser'
import { type Random, systemRandom } from '../time.js'
import type { CrawlRequest } from '../types.js'
import type { FetchedResponse, FetchFailure, Outcome } from './contract.js'
import type { RobotsGate, RobotsVerdict } from './robots-contract.js'

export interface RobotsOptions {
  /** The user agent that is sent; its product name is looked for in the groups. */
  readonly userAgent: string
  /** Scatters retries. Default: chance. */
  readonly random?: Random | undefined
  /** Most origins whose rules are remembered; the least recently asked is forgotten first. Default 10,000. */
  readonly maxHosts?: number | undefined
  /** How long rules are believed. Default and upper bound 24 h, as RFC 9309 (2.4) asks. */
  readonly cacheMs?: number | undefined
  /** How often to ask for rules that cannot be had before the host is taken to forbid everything. Default 3. */
  readonly maxTries?: number | undefined
  /** The longest Crawl-delay that is honoured; a longer one counts as this. Default 60 s. */
  readonly maxDelayMs?: number | undefined
}

type Rules = ReturnType<typeof robotsParser>

/** `rules` where they were read; otherwise one word for all paths. */
type Standing =
  | { readonly kind: 'unknown'; readonly ask: string; readonly hops: number; readonly notBefore: number }
  | { readonly kind: 'rules'; readonly rules: Rules; readonly until: number }
  | { readonly kind: 'allow' | 'deny'; readonly until: number }
  | { readonly kind: 'unreachable'; readonly failure: FetchFailure; readonly until: number }

/** What is remembered of one origin. */
interface Entry {
  standing: Standing
  failures: number
  /** Characters of robots.txt that the rules came from: a measure of the memory they take. */
  weight: number
}

const DEFAULT_MAX_HOSTS = 10_000
const DAY_MS = 24 * 3_600_000
const DEFAULT_MAX_TRIES = 3
const DEFAULT_MAX_DELAY_MS = 60_000

/** 500 KiB must be read (RFC 9309, 2.5); what follows is not looked at. */
const MAX_TEXT_BYTES = 500 * 1024

/** RFC 9309 (2.3.1.2) asks for at least five. */
const MAX_HOPS = 5

/** A few tries within seconds, because the host's pages wait for the answer: after 1 s, then 4 s, then 16 s. */
const FIRST_RETRY_MS = 1000
const RETRY_FACTOR = 4
/** Up to this share is added to a wait, so that hosts that failed together do not come back together. */
const JITTER = 0.25

/** Parsed rules take about five times their text, so that this is some 80 MB at worst. */
const MAX_WEIGHT = 16 * 1024 * 1024

const TOO_MANY_REQUESTS = 429

/** Makes the gate. It is asynchronous only because the parser is loaded when it is first needed. */
export async function robotsGate(options: RobotsOptions): Promise<RobotsGate> {
  const { default: parse } = await import('robots-parser')
  return new Gate(options, parse)
}

/**
 * The name by which groups of robots.txt address a crawler: `Kumo` for `Kumo/0.1 (+https://…)`, and also for
 * `Mozilla/5.0 (compatible; Kumo/0.1; +https://…)`.
 */
export function productName(userAgent: string): string {
  const compatible = /^Mozilla\/\S+ \(compatible;\s*([^\s/;()]+)/i.exec(userAgent)
  return compatible?.[1] ?? /^[^\s/;()]*/.exec(userAgent.trim())![0]
}

class Gate implements RobotsGate {
  readonly #parse: typeof robotsParser
  readonly #product: string
  readonly #random: Random
  readonly #maxHosts: number
  readonly #cacheMs: number
  readonly #maxTries: number
  readonly #maxDelayMs: number
  /** By origin; the least recently asked first. */
  readonly #entries = new Map<string, Entry>()
  #weight = 0

  constructor(options: RobotsOptions, parse: typeof robotsParser) {
    this.#parse = parse
    this.#product = productName(options.userAgent)
    this.#random = options.random ?? systemRandom()
    this.#maxHosts = options.maxHosts ?? DEFAULT_MAX_HOSTS
    this.#cacheMs = Math.min(options.cacheMs ?? DAY_MS, DAY_MS)
    this.#maxTries = options.maxTries ?? DEFAULT_MAX_TRIES
    this.#maxDelayMs = options.maxDelayMs ?? DEFAULT_MAX_DELAY_MS
  }

  check(request: CrawlRequest, now: number): RobotsVerdict {
    const origin = originOf(request.url)
    const entry = this.#touch(origin)
    let { standing } = entry
    if (standing.kind !== 'unknown' && standing.until <= now) {
      entry.failures = 0
      this.#weigh(entry, 0)
      standing = entry.standing = unknown(origin)
    }
    switch (standing.kind) {
      case 'unknown':
        return standing.notBefore > now ? { retryAt: standing.notBefore } : { fetch: standing.ask }
      case 'rules':
        return isRobotsFile(request.url, origin) || this.#allows(standing.rules, request.url)
          ? 'allow'
          : 'deny'
      case 'unreachable':
        return { failed: standing.failure }
      default:
        return isRobotsFile(request.url, origin) ? 'allow' : standing.kind
    }
  }

  learn(request: CrawlRequest, fetched: string, outcome: Outcome, now: number): void {
    // Stopped before there was an answer, which says nothing about the host.
    if (!outcome.ok && outcome.code === 'aborted') return
    const origin = originOf(request.url)
    const entry = this.#touch(origin)
    const { standing } = entry
    // Two requests of one host may both have been told to fetch; the second answer brings nothing new.
    const expected = standing.kind === 'unknown' && standing.ask === fetched && standing.notBefore <= now
    if (!expected) return

    const until = now + this.#cacheMs
    if (!outcome.ok || outcome.skippedBody || outcome.status >= 500 || outcome.status === TOO_MANY_REQUESTS) {
      this.#failed(entry, origin, outcome, now)
    } else if (outcome.status >= 400) {
      entry.standing = { kind: 'allow', until }
    } else if (outcome.status >= 300) {
      entry.standing = redirected(request, fetched, outcome, standing.hops, until)
    } else {
      const text = textOf(outcome.body)
      this.#weigh(entry, text.length)
      entry.standing = { kind: 'rules', rules: this.#parse(`${origin}/robots.txt`, text), until }
    }
  }

  delayMs(request: CrawlRequest): number | undefined {
    const standing = this.#entries.get(originOf(request.url))?.standing
    if (standing?.kind !== 'rules') return undefined
    const seconds = standing.rules.getCrawlDelay(this.#product)
    if (seconds === undefined || !(seconds > 0)) return undefined
    return Math.min(seconds * 1000, this.#maxDelayMs)
  }

  #allows(rules: Rules, url: string): boolean {
    return rules.isAllowed(url, this.#product) !== false
  }

  /** A host whose rules cannot be had may forbid anything (RFC 9309, 2.3.1.4); but a crawl must end. */
  #failed(entry: Entry, origin: string, outcome: Outcome, now: number): void {
    entry.failures++
    if (entry.failures >= this.#maxTries) {
      const until = now + this.#cacheMs
      entry.standing = outcome.ok ? { kind: 'deny', until } : { kind: 'unreachable', failure: outcome, until }
      return
    }
    const wait = FIRST_RETRY_MS * RETRY_FACTOR ** (entry.failures - 1)
    entry.standing = unknown(origin, now + wait * (1 + JITTER * this.#random.next()))
  }

  #touch(origin: string): Entry {
    const known = this.#entries.get(origin)
    const entry = known ?? { standing: unknown(origin), failures: 0, weight: 0 }
    if (known) this.#entries.delete(origin)
    this.#entries.set(origin, entry)
    if (!known) this.#makeRoom()
    return entry
  }

  #weigh(entry: Entry, weight: number): void {
    this.#weight += weight - entry.weight
    entry.weight = weight
    this.#makeRoom()
  }

  /** The newest entry always stays: it is the one that is being asked about. */
  #makeRoom(): void {
    for (const [origin, entry] of this.#entries) {
      const full = this.#entries.size > this.#maxHosts || this.#weight > MAX_WEIGHT
      if (!full || this.#entries.size === 1) return
      this.#weight -= entry.weight
      this.#entries.delete(origin)
    }
  }
}

function unknown(origin: string, notBefore = 0): Standing {
  return { kind: 'unknown', ask: `${origin}/robots.txt`, hops: 0, notBefore }
}

/**
 * A redirect within the host (whatever the scheme) is followed. To another host it is not yet: that host has its own
 * clock, so the rules would have to be fetched as a visit there. Until then, and after too many hops, the host counts
 * as one without rules, which RFC 9309 (2.3.1.2) permits.
 */
function redirected(
  request: CrawlRequest,
  fetched: string,
  { headers }: FetchedResponse,
  hops: number,
  until: number,
): Standing {
  const location = headers.get('location')
  if (location === undefined || !URL.canParse(location, fetched)) return { kind: 'allow', until }
  const target = new URL(location, fetched)
  target.hash = ''
  const isWeb = target.protocol === 'http:' || target.protocol === 'https:'
  if (!isWeb || target.host !== request.host || hops >= MAX_HOPS) return { kind: 'allow', until }
  return { kind: 'unknown', ask: target.href, hops: hops + 1, notBefore: 0 }
}

function textOf(body: Uint8Array): string {
  if (body.length <= MAX_TEXT_BYTES) return new TextDecoder().decode(body)
  // Half a line could say the opposite of the whole one.
  const start = body.subarray(0, MAX_TEXT_BYTES)
  return new TextDecoder().decode(start.subarray(0, start.lastIndexOf(0x0a) + 1))
}

/** Scheme, host and port of a canonical URL. */
function originOf(url: string): string {
  const end = url.indexOf('/', url.indexOf('://') + 3)
  return end < 0 ? url : url.slice(0, end)
}

/** The rules themselves are always open to read. */
function isRobotsFile(url: string, origin: string): boolean {
  return url.length === origin.length + '/robots.txt'.length && url.endsWith('/robots.txt')
}
