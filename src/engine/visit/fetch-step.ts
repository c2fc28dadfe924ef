import { messageOf } from '../../errors.js'
import type { FetchContext, Fetcher, Outcome, Validators, WireExchange } from '../../fetch/contract.js'
import type { Membership } from '../../stores/contract.js'
import type { Clock, Timer } from '../../time.js'
import type { CrawlRequest, MaybePromise } from '../../types.js'
import { fingerprintText } from '../../url/fingerprint.js'
import { knownAs } from '../../url/known-as.js'
import { Deadlines, Expiring } from '../deadlines.js'
import type { Delivery } from '../delivery.js'
import type { InFlightLog } from '../parts.js'
import type { Meters } from '../stats/meters.js'
import type { Tally } from '../stats/tally.js'
import { isLocalShortage } from './verdict.js'

/** What a fetch accepts as a response. */
export interface FetchSettings {
  wants(mediaType: string): boolean
  /** Undefined: the limit for pages. */
  readonly maxBodyBytes?: number | undefined
  /** Whether a body that is too large is truncated instead of rejected. */
  readonly cutsBody: boolean
  /** For a conditional request. */
  readonly known?: Validators | undefined
  /** What is fetched, if it is not a page. `login`: it has secrets, and its exchange is not recorded. */
  readonly purpose?: 'robots' | 'sitemap' | 'login' | undefined
}

/** How long a visit that lacks a resource (e.g. a socket) keeps its slot. Meanwhile others end and free theirs. */
const SHORTAGE_WAIT_MS = 1000

/**
 * One per fetch. An `AbortController` costs more than all other bookkeeping of a page, so it is created only if a fetcher
 * reads `signal`; the HTTP fetcher sets `onAbort` instead.
 */
class VisitContext extends Expiring implements FetchContext {
  readonly request: CrawlRequest
  onAbort: (() => void) | undefined = undefined
  maySend: (() => boolean) | undefined = undefined
  /** Called before the abort if the deadline has passed. */
  onExpire: (() => void) | undefined = undefined
  readonly #settings: FetchSettings
  #aborted = false
  #controller: AbortController | undefined = undefined

  constructor(
    settings: FetchSettings,
    request: CrawlRequest,
    readonly records: boolean,
  ) {
    super()
    this.request = request
    this.#settings = settings
  }

  wants(mediaType: string): boolean {
    return this.#settings.wants(mediaType)
  }

  get maxBodyBytes(): number | undefined {
    return this.#settings.maxBodyBytes
  }

  get known(): Validators | undefined {
    return this.#settings.known
  }

  get cutsBody(): boolean {
    return this.#settings.cutsBody
  }

  get isPrivate(): boolean {
    return this.#settings.purpose === 'login'
  }

  get aborted(): boolean {
    return this.#aborted
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#aborted) this.#controller.abort()
    }
    return this.#controller.signal
  }

  expire(): void {
    this.onExpire?.()
    this.abort()
  }

  abort(): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#controller?.abort()
    this.onAbort?.()
  }
}

interface FetchParts {
  readonly fetcher: Fetcher
  readonly clock: Clock
  readonly delivery: Delivery
  readonly inFlight?: Pick<InFlightLog, 'sent'> | undefined
  readonly membership?: Pick<Membership, 'mayVisit'> | undefined
}

/** Fetches and counts. A fetch ends with its response, at its deadline, or when the crawl is aborted. */
export class FetchStep {
  readonly #fetcher: Fetcher
  readonly #clock: Clock
  readonly #inFlight: FetchParts['inFlight']
  readonly #membership: FetchParts['membership']
  readonly #timeoutMs: number
  readonly #meters: Meters
  readonly #tally: Tally
  readonly #running: Deadlines<VisitContext>
  readonly #delivery: Delivery
  /** Visits that lack a resource. Filled by `#waitForResources`, emptied all at once by `#resumeWaiting`. */
  readonly #waiting: (() => void)[] = []
  #waitTimer: Timer | undefined
  #aborted = false
  readonly #abortedRequests = new WeakSet<CrawlRequest>()
  readonly #records: boolean

  constructor(parts: FetchParts, timeoutMs: number, meters: Meters, tally: Tally) {
    this.#delivery = parts.delivery
    this.#fetcher = parts.fetcher
    this.#clock = parts.clock
    this.#inFlight = parts.inFlight
    this.#membership = parts.membership
    this.#timeoutMs = timeoutMs
    this.#meters = meters
    this.#tally = tally
    this.#running = new Deadlines(parts.clock, timeoutMs)
    this.#records = parts.delivery.hearsExchanges
  }

  get isAborted(): boolean {
    return this.#aborted
  }

  /** Aborts all fetches. */
  abort(): void {
    this.#aborted = true
    for (const context of this.#running.running()) context.abort()
    this.#resumeWaiting()
  }

  /** Aborts the fetches of some hosts. */
  abortHosts(isGone: (host: string) => boolean): void {
    for (const context of this.#running.running()) {
      if (!isGone(context.request.host)) continue
      this.#abortedRequests.add(context.request)
      context.abort()
    }
  }

  /** A process whose lease ran out while a request waited for its connection must not send it: others may visit its host. */
  #maySend(context: VisitContext, membership: Pick<Membership, 'mayVisit'>): boolean {
    if (context.aborted) return false
    if (membership.mayVisit()) return true
    this.#abortedRequests.add(context.request)
    context.abort()
    return false
  }

  /** Whether the fetch of a request was aborted, alone or with all others. */
  wasAborted(request: CrawlRequest): boolean {
    return this.#aborted || this.#abortedRequests.has(request)
  }

  /** Clears all timers. */
  close(): void {
    this.#running.close()
    this.#resumeWaiting()
  }

  async fetch(request: CrawlRequest, settings: FetchSettings): Promise<Outcome> {
    const startedAt = this.#clock.now()
    this.#meters.enter('fetch', startedAt)
    this.#tally.visitStarts(request.host, startedAt)
    this.#inFlight?.sent(this.#tally.requests)
    const records = this.#records && settings.purpose !== 'login'
    const context = new VisitContext(settings, request, records)
    if (this.#membership !== undefined) context.maySend = () => this.#maySend(context, this.#membership!)
    this.#running.start(context, startedAt)
    if (this.#aborted) context.abort()
    const outcome = await this.#race(request, context)
    this.#running.done(context)
    const endedAt = this.#clock.now()
    this.#meters.leave('fetch', endedAt)
    this.#tally.visitEnds(request.host, endedAt)
    if (outcome.resent) this.#tally.resent(outcome.resent)
    this.#tally.bytes += outcome.wireBytes ?? 0
    if (outcome.ok) this.#tally.status(outcome.status)
    else if (isLocalShortage(outcome)) {
      this.#tally.notSent()
      await this.#waitForResources(outcome.message)
    }
    if (context.records && outcome.exchange) await this.#deliver(request, settings, outcome.exchange)
    return outcome
  }

  /** Hooks have the exchange before the page that it led to. */
  #deliver(request: CrawlRequest, { purpose }: FetchSettings, exchange: WireExchange): MaybePromise<void> {
    return this.#delivery.deliverExchange({
      ...exchange,
      url: request.url,
      id: fingerprintText(knownAs(request)),
      purpose: purpose === 'robots' || purpose === 'sitemap' ? purpose : 'page',
      method: request.extras?.method ?? 'GET',
      status: statusOf(exchange),
    })
  }

  /** Waits, and warns once per run. The wait does not count against the deadline, which is for servers. */
  #waitForResources(message: string): Promise<void> | undefined {
    this.#delivery.advise(`${message} ${SHORTAGE_ADVICE}`)
    if (this.#aborted) return undefined
    this.#waitTimer ??= this.#clock.wakeAt(this.#clock.now() + SHORTAGE_WAIT_MS, () => this.#resumeWaiting())
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #resumeWaiting(): void {
    this.#waitTimer?.cancel()
    this.#waitTimer = undefined
    for (const goOn of this.#waiting.splice(0)) goOn()
  }

  #race(request: CrawlRequest, context: VisitContext): Promise<Outcome> {
    return new Promise((resolve) => {
      let isExpired = false
      context.onExpire = () => {
        isExpired = true
        resolve({ ok: false, code: 'timeout', message: `no complete response within ${this.#timeoutMs} ms` })
      }
      const done = (outcome: Outcome) => {
        // Too late for the result, but requests still count.
        if (isExpired && isOutcome(outcome) && outcome.resent) this.#tally.resent(outcome.resent)
        resolve(
          isOutcome(outcome) ? outcome : { ok: false, code: 'fetcher-failed', message: INVALID_OUTCOME },
        )
      }
      const threw = (error: unknown) => {
        // An error after the abort is not a defect of the fetcher.
        const code = context.aborted ? 'aborted' : 'fetcher-failed'
        done({ ok: false, code, message: `the fetcher threw: ${messageOf(error)}`, cause: error })
      }
      try {
        const answer = this.#fetcher.fetch(request, context)
        if (answer instanceof Promise) answer.then(done, threw)
        else if (isOutcome(answer)) resolve(answer)
        else Promise.resolve(answer).then(done, threw)
      } catch (error) {
        threw(error)
      }
    })
  }
}

/** From the status line, because a body that cannot be decoded makes the outcome a failure. */
function statusOf({ response }: WireExchange): number {
  const line = Buffer.from(response.buffer, response.byteOffset, Math.min(response.length, 16))
  return Number(/ (\d{3})/.exec(line.toString('latin1'))?.[1] ?? 0)
}

const SHORTAGE_ADVICE =
  'Kumo closed idle connections and continues with fewer at a time; no URL is lost. ' +
  'To avoid this, raise the limit of the system (ulimit -n) or lower concurrency().'

const INVALID_OUTCOME =
  'the fetcher did not return an outcome: { ok: true, status, headers, body, … } or { ok: false, code, message }'

/** A custom fetcher may return anything; an invalid outcome must not look like a failure of the store. */
function isOutcome(value: Outcome | undefined): boolean {
  if (value?.ok === true) return value.body instanceof Uint8Array && typeof value.headers?.get === 'function'
  return value?.ok === false && typeof value.code === 'string'
}
