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

/** robots.txt is accepted with any media type; only the beginning of a very long one counts (RFC 9309, 2.5). */
const ROBOTS_FETCH: FetchSettings = {
  wants: () => true,
  maxBodyBytes: 1024 * 1024,
  cutsBody: true,
  purpose: 'robots',
}

/** How often pages check again while the robots.txt of their origin waits in another host's queue. */
const RECHECK_MS = 1000
/** A robots.txt that has not arrived after this long is requested again: the shard that had it may have died. */
const RESEND_AFTER_MS = 300_000

const TOO_MANY_REQUESTS = 429

/** Bounds `#failed`. */
const MAX_FAILED = 10_000

/** Bounds `#deferredSitemaps`; the sitemaps of further origins are not read. */
const MAX_DEFERRED = 10_000

/**
 * Fetches the robots.txt of an origin before its pages, and queues the sitemaps that it lists.
 * robots.txt is fetched as a visit to its host. If it redirects to another host, a separate request goes through that
 * host's queue, and the pages of the origin wait.
 */
export class RobotsFetches {
  readonly #parts: EngineParts
  readonly #admission: Admission
  readonly #fetchStep: FetchStep
  readonly #rules: HealthRules
  readonly #tally: Tally
  /** Stored robots.txt records, by origin. */
  readonly #records: StateSpace
  /** robots.txt files being fetched, so that parallel connections to a host do not each fetch it. */
  readonly #inFlight = new Map<string, Promise<void>>()
  /** robots.txt files whose next request is a retry. Added by a failure, removed by a response. */
  readonly #failed = new Set<string>()
  /** Origins whose robots.txt waits in another host's queue, and since when. Removed when it arrives. */
  readonly #elsewhere = new Map<string, number>()
  /**
   * Origins whose robots.txt was not fetched for a page. Their sitemaps are read when the first page is visited:
   * otherwise a robots.txt could list a sitemap on a host whose robots.txt lists another, and so on forever.
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
    this.#records = parts.storeState.state.space('robots')
  }

  /** Fetches the robots.txt at `url` for the origin of `request`, which stays pending. */
  async rulesFor(request: CrawlRequest, url: string): Promise<Settlement> {
    const isPage = request.purpose === undefined
    const { clock, robots } = this.#parts
    const origin = originOf(request.url)
    if (await this.#restoreRules(request, origin)) {
      return postponed(request, clock.now())
    }
    if (hostOf(url) !== request.host) {
      await this.#queueElsewhere(origin, url, request)
      // The host itself is not blocked: its other origin may have its robots.txt.
      return postponed(request, clock.now() + RECHECK_MS)
    }
    const inFlight = this.#inFlight.get(url)
    if (inFlight !== undefined) {
      await inFlight
      return postponed(request, clock.now())
    }
    let isArchived = false
    const fetching = this.#fetch({ ...plainCopy(request), url }).then((outcome) => {
      isArchived = outcome.archived === true
      return isLocalShortage(outcome) ? undefined : this.#learn(origin, url, outcome, isPage)
    })
    this.#inFlight.set(url, fetching)
    await fetching
    this.#inFlight.delete(url)
    return {
      request,
      visitedAt: isArchived ? undefined : clock.now(),
      again: { at: clock.now(), attempt: request.attempt },
      hostDelayMs: robots.delayMs(request),
    }
  }

  /** Fetches the robots.txt of another origin, which redirected to this host. */
  async fetchForOther(request: CrawlRequest, origin: string): Promise<Settlement> {
    const { clock, robots, random } = this.#parts
    const startedAt = clock.now()
    const outcome = await this.#fetch(request)
    if (isLocalShortage(outcome)) return repeated(request, clock.now())
    if (this.#admission.isMine(origin)) await this.#learn(origin, request.url, outcome, false)
    else this.#sendRules(origin, request, outcome)
    const endedAt = clock.now()
    const visitedAt = outcome.archived ? undefined : endedAt
    const settlement = { request, visitedAt, hostDelayMs: robots.delayMs(request) }
    if (outcome.archived) return settlement
    if (!outcome.ok && outcome.code === 'aborted') {
      return { ...settlement, again: { at: endedAt, attempt: request.attempt } }
    }
    if (outcome.ok && outcome.status < 500 && outcome.status !== TOO_MANY_REQUESTS) return settlement
    // The gate decides when to retry; but this host has failed, whatever origin the request was for.
    const retryAfter = outcome.ok ? retryAfterMs(outcome.headers.get('retry-after'), endedAt) : undefined
    const visit = { startedAt, endedAt, retryAfterMs: retryAfter }
    const { trouble, hostNotBefore } = backOff(request.hostTrouble, visit, this.#rules, random.next())
    return { ...settlement, hostNotBefore, hostTrouble: trouble }
  }

  /** Called when a page of this origin may be visited: queues the origin's sitemaps if they were deferred. */
  queueDeferredSitemaps(url: string): MaybePromise<void> {
    if (this.#deferredSitemaps.size === 0) return
    const origin = originOf(url)
    if (this.#deferredSitemaps.delete(origin)) return this.#queueSitemaps(origin)
  }

  /** Another shard has fetched a robots.txt for this one. */
  robotsArrived({ origin, fetched, answer }: RobotsArrived): void {
    void this.#learn(origin, fetched, fromPlain(answer), false)
  }

  /** Sends the response to the shard that owns `origin`. */
  #sendRules(origin: string, request: CrawlRequest, outcome: Outcome): void {
    const purpose = { kind: 'rules', origin, fetched: request.url, answer: toPlain(outcome) } as const
    const { url, host, depth, priority, attempt, redirects, parent } = request
    this.#admission.sendToOwner(origin, { url, host, depth, priority, attempt, redirects, parent, purpose })
  }

  async #fetch(request: CrawlRequest): Promise<Outcome> {
    const attempt = this.#failed.has(request.url) ? 1 : request.attempt
    const fetched = { ...plainCopy(request), attempt }
    const outcome = this.#withoutFalseAbort(fetched, await this.#fetchStep.fetch(fetched, ROBOTS_FETCH))
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
    // Not stored while its sitemaps are deferred: after a crash it is fetched again, and with it the sitemaps.
    const record = isPage ? robots.record?.(origin) : undefined
    if (record !== undefined) this.#records.put(origin, record, hostOf(`${origin}/`))
  }

  /** Restores the stored robots.txt of the origin, if there is one. True if it need not be fetched. */
  async #restoreRules(request: CrawlRequest, origin: string): Promise<boolean> {
    const { robots, clock } = this.#parts
    if (robots.restore === undefined) return false
    const reading = this.#records.get(origin, request.host)
    const record = reading instanceof Promise ? await reading : reading
    if (record === undefined) return false
    robots.restore(record)
    const verdict = robots.check(request, clock.now())
    return typeof verdict === 'string' || !('fetch' in verdict)
  }

  /** A fetcher that reports `aborted` although nobody aborted the fetch has failed. */
  #withoutFalseAbort(request: CrawlRequest, outcome: Outcome): Outcome {
    if (outcome.ok || outcome.code !== 'aborted' || this.#fetchStep.wasAborted(request)) return outcome
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
    const message = `the robots.txt of ${origin} redirects to ${url}, which is blocked`
    const outcome: Outcome = { ok: false, code: 'address-refused', message }
    this.#parts.robots.learn(origin, url, outcome, this.#parts.clock.now())
  }
}

/** A copy without the fields that a frontier may have added. */
function plainCopy(request: CrawlRequest): CrawlRequest {
  const { url, host, depth, priority, attempt, redirects, parent, hostTrouble } = request
  return { url, host, depth, priority, attempt, redirects, parent, hostTrouble }
}

/** The outcome as plain data, for the shard that asked for the robots.txt. */
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
