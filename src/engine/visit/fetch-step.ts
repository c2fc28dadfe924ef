import { messageOf } from '../../errors.js'
import type { Fetcher, Outcome, Validators } from '../../fetch/contract.js'
import type { Clock, Timer } from '../../time.js'
import type { CrawlRequest } from '../../types.js'
import { Deadlines } from '../deadlines.js'
import type { Delivery } from '../delivery.js'
import type { Meters } from '../stats/meters.js'
import type { Tally } from '../stats/tally.js'
import { VisitContext } from './fetch-context.js'
import { isOurs } from './verdict.js'

/** What is wanted of an answer. */
export interface FetchExpectation {
  wants(mediaType: string): boolean
  /** If not as for pages. */
  readonly maxBodyBytes?: number | undefined
  /** Whether what exceeds the bound is cut off, and not the whole body refused. */
  readonly cutsBody: boolean
  /** For a conditional request. */
  readonly known?: Validators | undefined
}

/** How long a visit that came short of something keeps its place. In this time others end, and set free what they hold. */
const SHORTAGE_PAUSE_MS = 1000

interface FetchParts {
  readonly fetcher: Fetcher
  readonly clock: Clock
  readonly delivery: Delivery
  readonly inFlight?: { sent(total: number): void } | undefined
}

/** Exchanges with servers: each is ended by its answer, the deadline or the abort of the crawl, and counted. */
export class FetchStep {
  readonly #fetcher: Fetcher
  readonly #clock: Clock
  readonly #inFlight: FetchParts['inFlight']
  readonly #timeoutMs: number
  readonly #meters: Meters
  readonly #tally: Tally
  readonly #running: Deadlines<VisitContext>
  readonly #delivery: Delivery
  /** Visits that came short of something. Filled by `#comeShort`, emptied all at once by `#goOn`. */
  readonly #short: (() => void)[] = []
  #pause: Timer | undefined
  #aborted = false

  constructor(parts: FetchParts, timeoutMs: number, meters: Meters, tally: Tally) {
    this.#delivery = parts.delivery
    this.#fetcher = parts.fetcher
    this.#clock = parts.clock
    this.#inFlight = parts.inFlight
    this.#timeoutMs = timeoutMs
    this.#meters = meters
    this.#tally = tally
    this.#running = new Deadlines(parts.clock, timeoutMs)
  }

  get isAborted(): boolean {
    return this.#aborted
  }

  /** Ends every fetch now. */
  abort(): void {
    this.#aborted = true
    for (const context of this.#running.running()) context.abort()
    this.#goOn()
  }

  /** Leaves no timer behind. */
  close(): void {
    this.#running.close()
    this.#goOn()
  }

  async fetch(request: CrawlRequest, expectation: FetchExpectation): Promise<Outcome> {
    const startedAt = this.#clock.now()
    this.#meters.enter('fetch', startedAt)
    this.#tally.visitStarts(request.host, startedAt)
    this.#inFlight?.sent(this.#tally.requests)
    const context = new VisitContext(expectation)
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
    else if (isOurs(outcome)) {
      this.#tally.notSent()
      await this.#comeShort(outcome.message)
    }
    return outcome
  }

  /** Waits, and reports it once. The deadline is over by now: it is for servers. */
  #comeShort(message: string): Promise<void> | undefined {
    this.#delivery.advise(`${message} ${WHAT_IS_DONE}`)
    if (this.#aborted) return undefined
    this.#pause ??= this.#clock.wakeAt(this.#clock.now() + SHORTAGE_PAUSE_MS, () => this.#goOn())
    return new Promise((resolve) => this.#short.push(resolve))
  }

  #goOn(): void {
    this.#pause?.cancel()
    this.#pause = undefined
    for (const goOn of this.#short.splice(0)) goOn()
  }

  #race(request: CrawlRequest, context: VisitContext): Promise<Outcome> {
    return new Promise((resolve) => {
      let isExpired = false
      context.onExpire = () => {
        isExpired = true
        resolve({ ok: false, code: 'timeout', message: `no complete answer within ${this.#timeoutMs} ms` })
      }
      const done = (outcome: Outcome) => {
        // Too late for all but the count.
        if (isExpired && isOutcome(outcome) && outcome.resent) this.#tally.resent(outcome.resent)
        resolve(isOutcome(outcome) ? outcome : { ok: false, code: 'fetcher-failed', message: NO_OUTCOME })
      }
      const threw = (error: unknown) => {
        // What a fetcher throws because it was told to stop is no defect.
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

const WHAT_IS_DONE =
  'Idle connections were closed, and the crawl goes on with fewer at once; no URL is given up for it. ' +
  'To avoid this, raise the limit of the system (ulimit -n) or lower concurrency().'

const NO_OUTCOME =
  'the fetcher did not return an outcome: { ok: true, status, headers, body, … } or { ok: false, code, message }'

/** Fetchers may be the user's own, and a shape that nobody can read must not pass for a broken store. */
function isOutcome(value: Outcome | undefined): boolean {
  if (value?.ok === true) return value.body instanceof Uint8Array && typeof value.headers?.get === 'function'
  return value?.ok === false && typeof value.code === 'string'
}
