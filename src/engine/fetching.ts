import { messageOf } from '../errors.js'
import type { Fetcher, Outcome, Validators } from '../fetch/contract.js'
import type { Clock } from '../time.js'
import type { CrawlRequest } from '../types.js'
import { Deadlines } from './deadlines.js'
import { VisitContext } from './fetch-context.js'
import type { Meters } from './meters.js'
import type { Tally } from './tally.js'

/** What is wanted of an answer. */
export interface Wish {
  wants(mediaType: string): boolean
  /** What exceeds it is cut off, where it is given. */
  readonly maxBodyBytes?: number | undefined
  /** For a conditional request. */
  readonly known?: Validators | undefined
}

/** Exchanges with servers: each is ended by its answer, the deadline or the abort of the crawl, and counted. */
export class Fetching {
  readonly #fetcher: Fetcher
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #meters: Meters
  readonly #tally: Tally
  readonly #running: Deadlines<VisitContext>
  #aborted = false

  constructor(parts: { fetcher: Fetcher; clock: Clock }, timeoutMs: number, meters: Meters, tally: Tally) {
    this.#fetcher = parts.fetcher
    this.#clock = parts.clock
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
  }

  /** Leaves no timer behind. */
  close(): void {
    this.#running.close()
  }

  async fetch(request: CrawlRequest, wish: Wish): Promise<Outcome> {
    const startedAt = this.#clock.now()
    this.#meters.enter('fetch', startedAt)
    this.#tally.visitStarts(request.host, startedAt)
    const context = new VisitContext(wish)
    this.#running.start(context, startedAt)
    if (this.#aborted) context.abort()
    const outcome = await this.#race(request, context)
    this.#running.done(context)
    const endedAt = this.#clock.now()
    this.#meters.leave('fetch', endedAt)
    this.#tally.visitEnds(request.host, endedAt)
    if (context.resends > 0) this.#tally.resent(context.resends)
    this.#tally.bytes += outcome.wireBytes ?? 0
    if (outcome.ok) this.#tally.status(outcome.status)
    return outcome
  }

  #race(request: CrawlRequest, context: VisitContext): Promise<Outcome> {
    return new Promise((resolve) => {
      context.onExpire = () =>
        resolve({ ok: false, code: 'timeout', message: `no complete answer within ${this.#timeoutMs} ms` })
      const done = (outcome: Outcome) => {
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

const NO_OUTCOME =
  'the fetcher did not return an outcome: { ok: true, status, headers, body, … } or { ok: false, code, message }'

/** Fetchers may be the user's own, and a shape that nobody can read must not pass for a broken store. */
function isOutcome(value: Outcome | undefined): boolean {
  if (value?.ok === true) return value.body instanceof Uint8Array && typeof value.headers?.get === 'function'
  return value?.ok === false && typeof value.code === 'string'
}
