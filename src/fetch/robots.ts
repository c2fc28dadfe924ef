/**
 * What hosts publish in robots.txt, in its simple form: the rules are read by robots-parser, and this file decides
 * when to ask for them, how long to believe them, and what to do while they cannot be had.
 */

import type { default as robotsParser } from 'robots-parser'
import { type Random, systemRandom } from '../time.js'
import type { CrawlRequest } from '../types.js'
import { originOf } from '../url/canonicalise.js'
import type { FetchedResponse, FetchFailure, Outcome } from './contract.js'
import type { RobotsGate, RobotsVerdict } from './robots-contract.js'
import { Generations, ownCopy } from './robots-memory.js'
import { relevantLines } from './robots-text.js'

export interface RobotsOptions {
  /** The user agent that is sent; its product name is looked for in the groups. */
  readonly userAgent: string
  /** Scatters retries. Default: chance. */
  readonly random?: Random | undefined
  /**
   * Most origins whose rules are remembered. With more, those not asked about lately are forgotten, many at a time, but
   * none before its rules were used once. Default 100,000.
   */
  readonly maxHosts?: number | undefined
  /** How long rules are believed. Default and upper bound 24 h, as RFC 9309 (2.4) asks. */
  readonly cacheMs?: number | undefined
  /** How often to ask for rules that cannot be had before the host is taken to forbid everything. Default 3. */
  readonly maxTries?: number | undefined
  /** The longest Crawl-delay that is honoured; a longer one counts as this. Default 60 s. */
  readonly maxDelayMs?: number | undefined
}

type Rules = ReturnType<typeof robotsParser>

/** Rules that are still to be had: from where, and what was tried so far. */
interface Unknown {
  readonly kind: 'unknown'
  readonly ask: string
  readonly hops: number
  readonly failures: number
  readonly notBefore: number
}

/** `rules` where they were read; otherwise one word for all paths, in as few fields as possible: most hosts have it. */
type Known =
  | { readonly kind: 'rules'; readonly rules: Rules; readonly until: number; readonly weight: number }
  | { readonly kind: 'allow' | 'deny'; readonly until: number }
  | { readonly kind: 'unreachable'; readonly failure: FetchFailure; readonly until: number }

type Standing = Unknown | Known

/** An origin that allows all takes about 150 bytes with its name (measured), so that this is some 15 MB. */
const DEFAULT_MAX_HOSTS = 100_000
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

/** In characters of the lines that apply to us. Parsed they take about five times that: some 80 MB at worst. */
const MAX_WEIGHT = 16 * 1024 * 1024

/** A failure keeps its cause, an error with a stack: some 2 kB, or as much as rules of this length. */
const FAILURE_WEIGHT = 400

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
  /**
   * By origin, what was learned and has not answered for a page yet. Filled by `learn`, emptied by `check`; room is never
   * made here. Otherwise, with more origins than there is room for, each would be forgotten before its turn comes back,
   * and robots.txt would be fetched for ever and no page. A request waits for each of these, so there are at most as
   * many as origins with pending requests.
   */
  readonly #waiting = new Map<string, Standing>()
  #waitingWeight = 0
  /** What has answered for a page and may be forgotten. Filled by `check`. */
  readonly #used = new Generations<Known>(weightOf)

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
    const standing = this.#standing(origin, now)
    if (standing.kind === 'unknown') {
      return standing.notBefore > now ? { retryAt: standing.notBefore } : { fetch: standing.ask }
    }
    this.#use(origin, standing)
    switch (standing.kind) {
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
    const standing = this.#standing(origin, now)
    // Two requests of one host may both have been told to fetch; the second answer brings nothing new.
    if (standing.kind !== 'unknown' || standing.ask !== fetched || standing.notBefore > now) return

    const learned = this.#learned(request, standing, outcome, now)
    this.#waiting.set(ownCopy(origin), learned)
    this.#waitingWeight += weightOf(learned)
    this.#makeRoom()
  }

  delayMs(request: CrawlRequest): number | undefined {
    const origin = originOf(request.url)
    const standing = this.#waiting.get(origin) ?? this.#used.get(origin)
    if (standing?.kind !== 'rules') return undefined
    const seconds = standing.rules.getCrawlDelay(this.#product)
    if (seconds === undefined || !(seconds > 0)) return undefined
    return Math.min(seconds * 1000, this.#maxDelayMs)
  }

  #allows(rules: Rules, url: string): boolean {
    return rules.isAllowed(url, this.#product) !== false
  }

  /** What is known now. What is no longer believed is forgotten here. */
  #standing(origin: string, now: number): Standing {
    const standing = this.#waiting.get(origin) ?? this.#used.get(origin)
    if (standing === undefined) return unknown(origin)
    if (standing.kind === 'unknown' || standing.until > now) return standing
    if (this.#waiting.delete(origin)) this.#waitingWeight -= weightOf(standing)
    else this.#used.delete(origin)
    return unknown(origin)
  }

  #learned(request: CrawlRequest, asked: Unknown, outcome: Outcome, now: number): Standing {
    if (!outcome.ok || outcome.skippedBody || outcome.status >= 500 || outcome.status === TOO_MANY_REQUESTS) {
      return this.#failed(request, asked, outcome, now)
    }
    const until = now + this.#cacheMs
    if (outcome.status >= 400) return { kind: 'allow', until }
    if (outcome.status >= 300) return redirected(request, asked, outcome, until)
    const lines = relevantLines(textOf(outcome.body), this.#product)
    if (lines === '') return { kind: 'allow', until }
    const rules = this.#parse(`${originOf(request.url)}/robots.txt`, lines)
    return { kind: 'rules', rules, until, weight: lines.length }
  }

  /** A host whose rules cannot be had may forbid anything (RFC 9309, 2.3.1.4); but a crawl must end. */
  #failed(request: CrawlRequest, asked: Unknown, outcome: Outcome, now: number): Standing {
    const failures = asked.failures + 1
    if (failures >= this.#maxTries) {
      const until = now + this.#cacheMs
      return outcome.ok ? { kind: 'deny', until } : { kind: 'unreachable', failure: outcome, until }
    }
    const wait = FIRST_RETRY_MS * RETRY_FACTOR ** (failures - 1)
    const notBefore = now + wait * (1 + JITTER * this.#random.next())
    return { ...unknown(originOf(request.url)), failures, notBefore }
  }

  /** From now on the origin is one that may be forgotten. */
  #use(origin: string, standing: Known): void {
    if (this.#waiting.delete(origin)) this.#waitingWeight -= weightOf(standing)
    this.#used.use(origin, standing)
    this.#makeRoom()
  }

  #makeRoom(): void {
    this.#used.fit(this.#maxHosts - this.#waiting.size, MAX_WEIGHT - this.#waitingWeight)
  }
}

function unknown(origin: string): Unknown {
  return { kind: 'unknown', ask: `${origin}/robots.txt`, hops: 0, failures: 0, notBefore: 0 }
}

/** A measure of the memory that a standing takes beyond the few words that each one does. */
function weightOf(standing: Standing): number {
  if (standing.kind === 'rules') return standing.weight
  return standing.kind === 'unreachable' ? FAILURE_WEIGHT : 0
}

/**
 * A redirect within the host (whatever the scheme) is followed. To another host it is not yet: that host has its own
 * clock, so the rules would have to be fetched as a visit there. Until then, and after too many hops, the host counts
 * as one without rules, which RFC 9309 (2.3.1.2) permits.
 */
function redirected(
  request: CrawlRequest,
  asked: Unknown,
  { headers }: FetchedResponse,
  until: number,
): Standing {
  const location = headers.get('location')
  if (location === undefined || !URL.canParse(location, asked.ask)) return { kind: 'allow', until }
  const target = new URL(location, asked.ask)
  target.hash = ''
  const isWeb = target.protocol === 'http:' || target.protocol === 'https:'
  if (!isWeb || target.host !== request.host || asked.hops >= MAX_HOPS) return { kind: 'allow', until }
  return { ...asked, ask: target.href, hops: asked.hops + 1, notBefore: 0 }
}

function textOf(body: Uint8Array): string {
  if (body.length <= MAX_TEXT_BYTES) return new TextDecoder().decode(body)
  // Half a line could say the opposite of the whole one.
  const start = body.subarray(0, MAX_TEXT_BYTES)
  return new TextDecoder().decode(start.subarray(0, start.lastIndexOf(0x0a) + 1))
}

/** The rules themselves are always open to read. */
function isRobotsFile(url: string, origin: string): boolean {
  return url.length === origin.length + '/robots.txt'.length && url.endsWith('/robots.txt')
}
