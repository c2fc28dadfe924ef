import type { FetchContext, FetchedResponse, Fetcher, Outcome, ResponseHeaders } from '../fetch/contract.js'
import type { Clock, Timer } from '../time.js'
import type { CrawlRequest } from '../types.js'
import { type ExpectedCrawl, expectedPages } from './expected.js'
import { type Answer, WebMap, type WebShape } from './web-map.js'

/** One fetch, as the simulated web saw it. Times are virtual. */
export interface FetchRecord {
  readonly url: string
  /** The politeness unit, as the crawl named it. */
  readonly host: string
  readonly attempt: number
  readonly startedAt: number
  /** Infinity while it is in progress. */
  readonly endedAt: number
  /** `final`: an answer that is not retried. `trouble`: one that is. */
  readonly result: 'final' | 'trouble' | 'aborted' | 'pending'
}

/** A web generated from a seed, for crawls in virtual time. It is a `Fetcher`: `.fetcher(web)`. */
export interface SimulatedWeb extends Fetcher {
  fetch(request: CrawlRequest, context: FetchContext): Promise<Outcome>
  /** Every fetch, in the order in which they started. */
  readonly log: readonly FetchRecord[]
  /** The first page of every host. Everything that is linked can be reached from these. */
  readonly seeds: readonly string[]
  /** The pages that a complete crawl with scope `'all'` and no limits must deliver, each once. */
  expected(crawl?: ExpectedCrawl): Set<string>
  /** Whether robots.txt allows the URL to be fetched. */
  allows(url: string): boolean
  /** The Crawl-delay of a host in ms; 0 if it has none. */
  crawlDelayMs(host: string): number
}

/**
 * Generates a web from a seed. The same seed gives the same pages, delays and failures in whatever order they are
 * requested. Failures end after one or two attempts, so the result of a complete crawl is known beforehand.
 *
 * @example
 * const web = simulatedWeb({ seed: 7, hosts: 20, failures: { reset: 0.1 }, redirects: 0.05, clock })
 */
export function simulatedWeb({ clock, ...shape }: WebShape & { clock: Clock }): SimulatedWeb {
  return new Web(new WebMap(shape), clock)
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

const ABORTED: Outcome = { ok: false, code: 'aborted', message: 'the fetch was aborted' }
const ENCODER = new TextEncoder()

class Web implements SimulatedWeb {
  readonly log: FetchRecord[] = []
  readonly #map: WebMap
  readonly #clock: Clock
  /**
   * A request for robots.txt has the attempt number of the page that waits for it, so its own attempts are counted
   * here.
   */
  readonly #rulesTries = new Map<string, number>()

  constructor(map: WebMap, clock: Clock) {
    this.#map = map
    this.#clock = clock
  }

  get seeds(): readonly string[] {
    return Array.from({ length: this.#map.shape.hosts }, (_, host) => this.#map.pageUrl(host, 0))
  }

  expected(crawl: ExpectedCrawl = {}): Set<string> {
    return expectedPages(this.#map, { seeds: this.seeds, ...crawl })
  }

  allows(url: string): boolean {
    return this.#map.allows(url)
  }

  crawlDelayMs(host: string): number {
    return this.#map.crawlDelayMs(host)
  }

  fetch({ url, host, attempt }: CrawlRequest, context: FetchContext): Promise<Outcome> {
    const startedAt = this.#clock.now()
    const record: Writable<FetchRecord> = {
      url,
      host,
      attempt,
      startedAt,
      endedAt: Number.POSITIVE_INFINITY,
      result: 'pending',
    }
    this.log.push(record)
    const tried = url.endsWith('/robots.txt') ? this.#countRulesTry(url) : attempt
    const answer = this.#map.answer(url, tried)
    return new Promise((resolve) => {
      let timer: Timer | undefined
      const end = (outcome: Outcome, result: FetchRecord['result']) => {
        record.endedAt = this.#clock.now()
        record.result = result
        resolve(outcome)
      }
      const abort = () => {
        timer?.cancel()
        end(ABORTED, 'aborted')
      }
      if (context.aborted) return abort()
      context.onAbort = abort
      if (answer.kind === 'never') return
      timer = this.#clock.wakeAt(startedAt + this.#map.latencyMs(url, tried), () => {
        context.onAbort = undefined
        const outcome = outcomeOf(answer)
        end(outcome, outcome.ok && outcome.status < 500 ? 'final' : 'trouble')
      })
    })
  }

  #countRulesTry(url: string): number {
    const tries = this.#rulesTries.get(url) ?? 0
    this.#rulesTries.set(url, tries + 1)
    return tries
  }
}

function outcomeOf(answer: Exclude<Answer, { kind: 'never' }>): Outcome {
  switch (answer.kind) {
    case 'page':
      return response(200, { 'content-type': 'text/html; charset=utf-8' }, answer.html)
    case 'rules':
      return response(200, { 'content-type': 'text/plain' }, answer.text)
    case 'redirect':
      return response(302, { location: answer.location }, '')
    case 'status':
      return response(answer.status, {}, '')
    case 'timeout':
      return { ok: false, code: 'timeout', message: 'the server did not answer in time' }
    default:
      return { ok: false, code: 'connection-lost', message: 'the connection was reset' }
  }
}

function response(status: number, headers: Record<string, string>, text: string): FetchedResponse {
  const body = ENCODER.encode(text)
  return { ok: true, status, headers: headersOf(headers), body, wireBytes: body.length, skippedBody: false }
}

function headersOf(headers: Record<string, string>): ResponseHeaders {
  return { get: (name) => headers[name], entries: () => Object.entries(headers) }
}
