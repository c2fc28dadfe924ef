import { messageOf } from '../../errors.js'
import type { FetchedResponse, Outcome } from '../../fetch/contract.js'
import type { Settlement } from '../../frontier/contract.js'
import type { OriginSession, SessionGate } from '../../hooks/session/contract.js'
import { retryAfterMs } from '../../time.js'
import type { CrawlRequest, MaybePromise } from '../../types.js'
import { knownAs } from '../../url/known-as.js'
import { isIdempotent } from '../../url/methods.js'
import type { EngineParts, EngineRules } from '../parts.js'
import type { Reporter } from '../stats/reporter.js'
import type { FetchSettings, FetchStep } from './fetch-step.js'
import { backOff } from './host-health.js'
import { isLocalShortage } from './verdict.js'
import { postponed, repeated, type VisitResult } from './visit-result.js'

/** A login page needs no extractor. */
const LOGIN_FETCH: FetchSettings = { wants: () => true, cutsBody: false, purpose: 'login' }

/** A page is fetched this often, each time after another login, before it fails. */
const MAX_REPEATS = 2

const TOO_MANY_REQUESTS = 429

const ABORTED = Symbol('aborted')

/** What it needs of the visits. */
interface SessionVisits {
  hostDelayMs(request: CrawlRequest, fetchMs: number): number | undefined
  /** Settles a request that failed for good. `settled` is absent if it was not sent. */
  giveUp(request: CrawlRequest, settled?: Settlement): VisitResult
}

/**
 * Logs in before the pages of an origin with a session are fetched. As with robots.txt, each request of a login takes the
 * place of a page's visit, and the page stays pending: so the host's rate limit holds, and nothing else is asked of the
 * host in the meantime.
 */
export class SessionStep {
  readonly #parts: EngineParts
  readonly #rules: EngineRules
  readonly #sessions: SessionGate
  readonly #fetchStep: FetchStep
  readonly #reports: Reporter
  readonly #visits: SessionVisits
  /** Requests of logins in flight, so that parallel connections to a host do not each log in. */
  readonly #inFlight = new Map<OriginSession, Promise<unknown>>()
  /**
   * How often in a row a page has shown that the session is over, by the name of its request. Apart from its attempts,
   * which other failures count too. An entry is removed when the page answers otherwise or fails.
   */
  readonly #repeats = new Map<string, number>()
  /** Visits that wait for a function of the user's. Filled and emptied by `#unlessAborted`. */
  readonly #waiting = new Set<() => void>()

  constructor(
    parts: EngineParts,
    rules: EngineRules,
    sessions: SessionGate,
    fetchStep: FetchStep,
    reports: Reporter,
    visits: SessionVisits,
  ) {
    this.#parts = parts
    this.#rules = rules
    this.#sessions = sessions
    this.#fetchStep = fetchStep
    this.#reports = reports
    this.#visits = visits
  }

  /** Functions of the user are not waited for any longer. */
  abort(): void {
    for (const stop of this.#waiting) stop()
  }

  /** Undefined if the page can be fetched. Otherwise the visit ends: used for a login, postponed or failed. */
  before(request: CrawlRequest): MaybePromise<VisitResult | undefined> {
    const session = this.#sessions.of(request.url)
    if (session === undefined || session.isOpen(this.#parts.clock.now())) return undefined
    return this.#logIn(request, session)
  }

  /** Undefined unless the response shows that the session is over. Then the page is fetched again after a login. */
  after(
    request: CrawlRequest,
    outcome: Outcome,
    startedAt: number,
    endedAt: number,
  ): MaybePromise<VisitResult | undefined> {
    const session = this.#sessions.of(request.url)
    if (session === undefined) return undefined
    if (outcome.ok) return this.#checkOver(request, outcome, session, startedAt, endedAt)
    this.#forgetRepeats(request)
    return undefined
  }

  #forgetRepeats(request: CrawlRequest): void {
    if (this.#repeats.size > 0) this.#repeats.delete(knownAs(request))
  }

  #unlessAborted<T>(promise: Promise<T>): Promise<T | typeof ABORTED> {
    return new Promise((resolve, reject) => {
      const stop = () => resolve(ABORTED)
      this.#waiting.add(stop)
      promise.then(resolve, reject).finally(() => this.#waiting.delete(stop))
    })
  }

  async #logIn(request: CrawlRequest, session: OriginSession): Promise<VisitResult | undefined> {
    const { clock } = this.#parts
    const inFlight = this.#inFlight.get(session)
    if (inFlight !== undefined) {
      await inFlight
      return postponed(request, clock.now())
    }
    const asked = session.next(clock.now())
    const verdict = asked instanceof Promise ? await asked : asked
    if (verdict === 'open') return undefined
    if ('retryAt' in verdict)
      return { ...postponed(request, verdict.retryAt), hostNotBefore: verdict.retryAt }
    if ('failed' in verdict) {
      this.#forgetRepeats(request)
      await this.#reports.failure(request, verdict.failed, true)
      return this.#visits.giveUp(request)
    }
    // While the record of the session was read, another visit may have begun.
    if (this.#inFlight.has(session)) return postponed(request, clock.now())
    const step = this.#fetch(request, session, verdict.fetch)
    this.#inFlight.set(session, step)
    try {
      return await step
    } finally {
      this.#inFlight.delete(session)
    }
  }

  async #fetch(request: CrawlRequest, session: OriginSession, login: CrawlRequest): Promise<VisitResult> {
    const { clock, random } = this.#parts
    const startedAt = clock.now()
    const outcome = await this.#fetchStep.fetch(login, LOGIN_FETCH)
    const endedAt = clock.now()
    const isAborted = !outcome.ok && outcome.code === 'aborted' && this.#fetchStep.wasAborted(login)
    if (isAborted || isLocalShortage(outcome)) return repeated(request, endedAt)
    if ((await this.#unlessAborted(session.learn(outcome, endedAt))) === ABORTED)
      return repeated(request, endedAt)
    const hostDelayMs = this.#visits.hostDelayMs(request, endedAt - startedAt)
    const settlement = { ...repeated(request, endedAt), hostDelayMs }
    const isHealthy = outcome.ok && outcome.status < 500 && outcome.status !== TOO_MANY_REQUESTS
    if (isHealthy) {
      const { hostTrouble } = request
      return hostTrouble === undefined
        ? settlement
        : { ...settlement, hostTrouble: { incidents: 0, since: endedAt } }
    }
    const retryAfter = outcome.ok ? retryAfterMs(outcome.headers.get('retry-after'), endedAt) : undefined
    const visit = { startedAt, endedAt, retryAfterMs: retryAfter }
    const { trouble, hostNotBefore } = backOff(request.hostTrouble, visit, this.#rules, random.next())
    return { ...settlement, hostNotBefore, hostTrouble: trouble }
  }

  async #checkOver(
    request: CrawlRequest,
    response: FetchedResponse,
    session: OriginSession,
    startedAt: number,
    endedAt: number,
  ): Promise<VisitResult | undefined> {
    const hostDelayMs = this.#visits.hostDelayMs(request, endedAt - startedAt)
    const settlement = { request, visitedAt: endedAt, hostDelayMs }
    let at: number | typeof ABORTED | undefined
    try {
      const answer = session.over(request, response, startedAt, endedAt)
      at = answer instanceof Promise ? await this.#unlessAborted(answer) : answer
    } catch (cause) {
      const message = `the rule 'over' of the session threw: ${messageOf(cause)}`
      this.#forgetRepeats(request)
      await this.#reports.failure(request, { code: 'session-failed', message, cause }, true)
      return this.#visits.giveUp(request, settlement)
    }
    if (at === ABORTED) return repeated(request, endedAt)
    if (at === undefined) {
      this.#forgetRepeats(request)
      return undefined
    }
    const { status } = response
    const name = knownAs(request)
    const repeats = this.#repeats.get(name) ?? 0
    const isRepeatable = isIdempotent(request.extras?.method) || session.isRefused(request, response)
    const isFinal = !isRepeatable || repeats >= MAX_REPEATS
    const message = `the response shows that the session is over${consequence(isRepeatable, isFinal)}`
    await this.#reports.failure(request, { code: 'session-over', message, status }, isFinal)
    if (isFinal) {
      this.#repeats.delete(name)
      return this.#visits.giveUp(request, settlement)
    }
    this.#repeats.set(name, repeats + 1)
    return { ...settlement, again: { at, attempt: request.attempt + 1 } }
  }
}

function consequence(isRepeatable: boolean, isFinal: boolean): string {
  if (!isRepeatable) return '; the server may have processed the request, so it is not sent again'
  return isFinal ? ', also after new logins' : '; the page is fetched again after a new login'
}
