import type { Outcome } from '../../fetch/contract.js'
import type { Settlement } from '../../frontier/contract.js'
import type { StateSpace } from '../../stores/contract.js'
import { retryAfterMs } from '../../time.js'
import type { CrawlRequest, MaybePromise, PlainAnswer, RobotsArrived } from '../../types.js'
import { hostOf, originOf } from '../../url/canonicalize.js'
import type { Admission } from '../admission/admission.js'
import type { EngineParts } from '../parts.js'
import type { Tally } from '../stats/tally.js'
import type { FetchSettings, FetchStep } from './fetch-step.js'
import { backOff, type HealthRules } from './host-health.js'
import { isLocalShortage } from './verdict.js'
import { postponed, repeated } from './visit-result.js'

/** robots.txt is wanted whatever media type it claims; of a very long one the beginning counts (RFC 9309, 2.5). */
const ROBOTS_FETCH: FetchSettings = { wants: () => true, maxBodyBytes: 1024 * 1024, cutsBody: true }

/** While another host's queue holds the rules of an origin, its pages look again this often. */
const RECHECK_MS = 1000
/** An robotsFetch that has not come back after this long is sent again: the shard that had it may have died. */
const RESEND_AFTER_MS = 300_000

const TOO_MANY_REQUESTS = 429

/** robots.txt files of which it is remembered that the last request for them failed. */
const MAX_FAILED = 10_000

/** Origins whose sitemaps wait for a page; those of others are not read. */
const MAX_DEFERRED = 10_000

/**
 * The robotsFetches that a page's visit depends on: the rules of its origin, and the sitemaps that those name. Rules are
 * fetched as a visit to the host that has them, which after a redirect may be another one: then a request of its own
 * goes through that host's queue, and the origin's pages wait.
 */
export class RobotsFetches {
  readonly #parts: EngineParts
  readonly #admission: Admission
  readonly #fetchStep: FetchStep
  readonly #rules: HealthRules
  readonly #tally: Tally
  /** Rules as records, by origin. */
  readonly #records: StateSpace
  /** robots.txt files on their way, so that parallel connections to a host do not each ask for it. */
  readonly #inFlight = new Map<string, Promise<void>>()
  /** robots.txt files whose next request is a retry. Filled by a failure, left by an answer. */
  readonly #failed = new Set<string>()
  /** Origins whose rules lie on another host, in whose queue they wait, and since when. Left when they are learned. */
  readonly #elsewhere = new Map<string, number>()
  /**
   * Origins whose rules were learned for something else than a page. Their sitemaps are read once a page is: otherwise
   * a robots.txt could name a sitemap on a host whose robots.txt names another, and so on for ever.
   */
  readonly #deferredSitemaps = new Set<string>()

  constructor(
    parts: EngineParts,
    rules: HealthRules,
    admission: Admission,
    fetching: FetchStep,
    tally: Tally,
  ) {
    this.#parts = parts
    this.#rules = rules
    this.#admission = admission
    this.#fetchStep = fetching
    this.#tally = tally
    this.#records = parts.memory.state.space('robots')
  }

  /** Gets the rules from `url` for the origin of `request`, which is then pending again. */
  async rulesFor(request: CrawlRequest, url: string): Promise<Settlement> {
    const isPage = request.purpose === undefined
    const { clock, robots } = this.#parts
    const origin = originOf(request.url)
    if (await this.#restoreRules(request, origin)) {
      return postponed(request, clock.now())
    }
    if (hostOf(url) !== request.host) {
      await this.#queueElsewhere(origin, url, request)
      // The host itself is not held back: its other origin may know its rules.
      return postponed(request, clock.now() + RECHECK_MS)
    }
    const inFlight = this.#inFlight.get(url)
    if (inFlight !== undefined) {
      await inFlight
      return postponed(request, clock.now())
    }
    const fetching = this.#fetch({ ...plainCopy(request), url }).then((outcome) =>
      isLocalShortage(outcome) ? undefined : this.#learn(origin, url, outcome, isPage),
    )
    this.#inFlight.set(url, fetching)
    await fetching
    this.#inFlight.delete(url)
    return {
      request,
      visitedAt: clock.now(),
      again: { at: clock.now(), attempt: request.attempt },
      hostDelayMs: robots.delayMs(request),
    }
  }

  /** A request that another origin's rules are fetched with. */
  async fetchForOther(request: CrawlRequest, origin: string): Promise<Settlement> {
    const { clock, robots, random } = this.#parts
    const startedAt = clock.now()
    const outcome = await this.#fetch(request)
    if (isLocalShortage(outcome)) return repeated(request, clock.now())
    if (this.#admission.isMine(origin)) await this.#learn(origin, request.url, outcome, false)
    else this.#sendRules(origin, request, outcome)
    const endedAt = clock.now()
    const settlement = { request, visitedAt: endedAt, hostDelayMs: robots.delayMs(request) }
    if (!outcome.ok && outcome.code === 'aborted') {
      return { ...settlement, again: { at: endedAt, attempt: request.attempt } }
    }
    if (outcome.ok && outcome.status < 500 && outcome.status !== TOO_MANY_REQUESTS) return settlement
    // When to ask again is the gate's to say; but this host is in trouble, whoever asked.
    const asked = outcome.ok ? retryAfterMs(outcome.headers.get('retry-after'), endedAt) : undefined
    const visit = { startedAt, endedAt, retryAfterMs: asked }
    const { trouble, hostNotBefore } = backOff(request.hostTrouble, visit, this.#rules, random.next())
    return { ...settlement, hostNotBefore, hostTrouble: trouble }
  }

  /** A page of this origin may be visited: its sitemaps, if they were put aside, are wanted now. */
  queueDeferredSitemaps(url: string): MaybePromise<void> {
    if (this.#deferredSitemaps.size === 0) return
    const origin = originOf(url)
    if (this.#deferredSitemaps.delete(origin)) return this.#queueSitemaps(origin)
  }

  /** Another shard has fetched rules for us. */
  robotsArrived({ origin, fetched, answer }: RobotsArrived): void {
    void this.#learn(origin, fetched, fromPlain(answer), false)
  }

  /** Sends the answer to the shard that asked for the rules of `origin`. */
  #sendRules(origin: string, request: CrawlRequest, outcome: Outcome): void {
    const purpose = { kind: 'rules', origin, fetched: request.url, answer: toPlain(outcome) } as const
    const { url, host, depth, priority, attempt, redirects, parent } = request
    this.#admission.sendToOwner(origin, { url, host, depth, priority, attempt, redirects, parent, purpose })
  }

  async #fetch(request: CrawlRequest): Promise<Outcome> {
    const attempt = this.#failed.has(request.url) ? 1 : request.attempt
    const outcome = this.#withoutFalseAbort(
      await this.#fetchStep.fetch({ ...plainCopy(request), attempt }, ROBOTS_FETCH),
    )
    if (isLocalShortage(outcome)) return outcome
    this.#tally.robots++
    this.#failed.delete(request.url)
    if (!outcome.ok) this.#failed.add(request.url)
    if (this.#failed.size > MAX_FAILED) this.#failed.delete(this.#failed.keys().next().value!)
    return outcome
  }

  async #learn(origin: string, fetched: string, outcome: Outcome, isPage: boolean): Promise<void> {
    const { robots, clock } = this.#parts
    robots.learn(origin, fetched, outcome, clock.now())
    this.#elsewhere.delete(origin)
    if (isPage) await this.#queueSitemaps(origin)
    else if (this.#deferredSitemaps.size < MAX_DEFERRED) this.#deferredSitemaps.add(origin)
    // Rules whose sitemaps are still to be read are asked for again after a crash, or nobody would read them.
    const record = isPage ? robots.record?.(origin) : undefined
    if (record !== undefined) this.#records.put(origin, record, hostOf(`${origin}/`))
  }

  /** Takes up what an earlier run learned of the origin, or this one has forgotten. True if that is enough. */
  async #restoreRules(request: CrawlRequest, origin: string): Promise<boolean> {
    const { robots, clock } = this.#parts
    if (robots.restore === undefined) return false
    const asking = this.#records.get(origin, request.host)
    const record = asking instanceof Promise ? await asking : asking
    if (record === undefined) return false
    robots.restore(record)
    const verdict = robots.check(request, clock.now())
    return typeof verdict === 'string' || !('fetch' in verdict)
  }

  /** A fetcher that gives up by itself has failed; only the end of the crawl says nothing about the host. */
  #withoutFalseAbort(outcome: Outcome): Outcome {
    if (outcome.ok || outcome.code !== 'aborted' || this.#fetchStep.isAborted) return outcome
    return { ...outcome, code: 'fetcher-failed' }
  }

  async #queueSitemaps(origin: string): Promise<void> {
    const sitemaps = this.#parts.robots.takeSitemaps(origin)
    if (sitemaps.length > 0) await this.#admission.queueSitemaps(sitemaps, `${origin}/`)
  }

  async #queueElsewhere(origin: string, url: string, from: CrawlRequest): Promise<void> {
    const now = this.#parts.clock.now()
    if (now - (this.#elsewhere.get(origin) ?? Number.NEGATIVE_INFINITY) < RESEND_AFTER_MS) return
    this.#elsewhere.set(origin, now)
    if (await this.#admission.queueRobots(url, from, { kind: 'robots', origin })) return
    this.#elsewhere.delete(origin)
    const message = `the robots.txt of ${origin} redirects to ${url}, which is on the block-list`
    const outcome: Outcome = { ok: false, code: 'address-refused', message }
    this.#parts.robots.learn(origin, url, outcome, this.#parts.clock.now())
  }
}

/** A copy without what a frontier may have hung on its own object. */
function plainCopy(request: CrawlRequest): CrawlRequest {
  const { url, host, depth, priority, attempt, redirects, parent, hostTrouble } = request
  return { url, host, depth, priority, attempt, redirects, parent, hostTrouble }
}

/** The outcome as plain data, for the shard that asked for the rules. */
function toPlain(outcome: Outcome): PlainAnswer {
  if (!outcome.ok) return { ok: false, code: outcome.code, message: outcome.message }
  const { status, headers, body, skippedBody, truncated = false } = outcome
  return {
    ok: true,
    status,
    headers: [...headers.entries()],
    body: Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1'),
    skippedBody,
    truncated,
  }
}

function fromPlain(answer: PlainAnswer): Outcome {
  if (!answer.ok) return answer
  const { status, skippedBody, truncated } = answer
  const headers = new Map(answer.headers)
  const body = Buffer.from(answer.body, 'latin1')
  return {
    ok: true,
    status,
    headers: { get: (name) => headers.get(name), entries: () => headers },
    body,
    wireBytes: body.length,
    skippedBody,
    truncated,
  }
}
