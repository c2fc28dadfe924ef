/** What the crawler's tests share: servers that close themselves, and a crawl whose every event is kept. */

import { Crawler, type Failure, type Fetcher, type Page, type Redirect, type Skip, type Summary } from 'kumo'
import { type Clock, type Outcome, type Random, systemClock } from 'kumo/adapters'
import { onTestFinished } from 'vitest'
import { type LoopbackSite, type Route, startSite } from '../loopback/site.js'
import { type LoopbackWeb, startWeb, type WebOptions } from '../loopback/web.js'

export { type RawServer, rawServer, reply, sleep, until } from '../fetch/support.js'

/** Everything that holds for one thread holds for several: the tests run with 0, 1 and 3 workers. See vitest.config.ts. */
export const WORKERS = Number(process.env.KUMO_TEST_WORKERS ?? 0)

/** A crawler with workers, unless it is given something that cannot be sent to them. */
class AnyCrew<Data extends object = object> extends Crawler<Data> {
  override clock(clock: Clock) {
    return super.clock(clock).workers(0)
  }
  override random(random: Random) {
    return super.random(random).workers(0)
  }
  override fetcher(fetcher: Parameters<Crawler['fetcher']>[0]) {
    return super.fetcher(fetcher).workers(0)
  }
  override store(store: Parameters<Crawler['store']>[0]) {
    return super.store(store).workers(0)
  }
  override frontier(frontier: Parameters<Crawler['frontier']>[0]) {
    return super.frontier(frontier).workers(0)
  }
  override seenStore(seen: Parameters<Crawler['seenStore']>[0]) {
    return super.seenStore(seen).workers(0)
  }
  override partitioner(partitioner: Parameters<Crawler['partitioner']>[0]) {
    return super.partitioner(partitioner).workers(0)
  }
  override dns(names: Parameters<Crawler['dns']>[0]) {
    const made = super.dns(names)
    return 'resolve' in names ? made.workers(0) : made
  }
  override proxy(proxy: Parameters<Crawler['proxy']>[0]) {
    const made = super.proxy(proxy)
    return typeof proxy === 'function' ? made.workers(0) : made
  }
  override scope(...rules: Parameters<Crawler['scope']>) {
    return alone(super.scope(...rules), rules)
  }
  override include(...rules: Parameters<Crawler['include']>) {
    return alone(super.include(...rules), rules)
  }
  override exclude(...rules: Parameters<Crawler['exclude']>) {
    return alone(super.exclude(...rules), rules)
  }
  override block(...rules: Parameters<Crawler['block']>) {
    return alone(super.block(...rules), rules)
  }
}

/** Functions and rules of one's own stay in their thread. */
function alone<C extends Crawler>(crawler: C, rules: readonly unknown[]): C {
  const isOwn = (rule: unknown) =>
    typeof rule === 'function' || (typeof rule === 'object' && !(rule instanceof RegExp))
  return rules.some(isOwn) ? crawler.workers(0) : crawler
}

/** A crawler for tests that are not about pauses. */
export const quick = new AnyCrew().delay(0).workers(WORKERS)

/** The same for tests that are not about robots.txt either. */
export const direct = quick.robots(false)

/** A site that is closed when the test ends. */
export async function site(routes: Record<string, Route>): Promise<LoopbackSite> {
  const started = await startSite(routes)
  onTestFinished(() => started.close())
  return started
}

/** A web that is closed when the test ends. */
export async function web(options: WebOptions): Promise<LoopbackWeb> {
  const started = await startWeb(options)
  onTestFinished(() => started.close())
  return started
}

/** Routes of `count` pages that all link to each other: `/`, `/1`, `/2`, … */
export function linkedPages(count: number): Record<string, Route> {
  const paths = Array.from({ length: count }, (_, i) => (i === 0 ? '/' : `/${i}`))
  const body = linksTo(...paths)
  return Object.fromEntries(paths.map((path) => [path, `<title>${path}</title>${body}`]))
}

export function linksTo(...hrefs: string[]): string {
  return hrefs.map((href) => `<a href="${href}">${href}</a>`).join('\n')
}

/** All that a crawl told, in order. */
export interface Heard<Data extends object> {
  readonly pages: Page<Data>[]
  readonly failures: Failure[]
  readonly skips: Skip[]
  readonly redirects: Redirect[]
  readonly summary: Summary
}

/** Runs a crawl to its end and keeps what it tells. */
export async function crawl<Data extends object>(crawler: Crawler<Data>): Promise<Heard<Data>> {
  const heard = {
    pages: [] as Page<Data>[],
    failures: [] as Failure[],
    skips: [] as Skip[],
    redirects: [] as Redirect[],
  }
  const summary = await crawler
    .on('page', (page) => void heard.pages.push(page))
    .on('failure', (failure) => void heard.failures.push(failure))
    .on('skip', (skip) => void heard.skips.push(skip))
    .on('redirect', (redirect) => void heard.redirects.push(redirect))
    .run()
  return { ...heard, summary }
}

/** The paths of URLs, sorted: what a test compares when order is not its subject. */
export function pathsOf(things: readonly { url: string }[]): string[] {
  return things.map(({ url }) => new URL(url).pathname).sort()
}

/** The paths that a site was asked for, without robots.txt, in order. */
export function askedPaths({ requests }: LoopbackSite): string[] {
  return requests.map(({ path }) => path).filter((path) => path !== '/robots.txt')
}

/** An outcome made by hand, for fetchers that need no network. */
export function htmlOutcome(html: string, status = 200): Outcome {
  const body = Buffer.from(html)
  const headers = new Map([['content-type', 'text/html']])
  return { ok: true, status, headers, body, wireBytes: body.length, skippedBody: false }
}

/** A fetcher that answers every URL with the same page. */
export function stubFetcher(html = '<title>stub</title>'): Fetcher {
  const outcome = htmlOutcome(html)
  return { fetch: () => outcome }
}

/** Rejections that nobody handled since now. Asking waits until Node has had the time to notice them. */
export function watchRejections(): () => Promise<unknown[]> {
  const rejections: unknown[] = []
  const note = (reason: unknown) => void rejections.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  return async () => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    return rejections
  }
}

/** What a promise is rejected with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  const nothing = Symbol('resolved')
  const outcome = await promise.then(
    () => nothing,
    (error) => error,
  )
  if (outcome === nothing) throw new Error('Expected a rejection, but the promise was kept.')
  return outcome
}

/** Real time, but so many times as fast: for tests that would wait for a backoff. */
export function hastyClock(factor: number): Clock {
  const real = systemClock()
  const start = real.now()
  return {
    now: () => start + (real.now() - start) * factor,
    // A hair later, or the division could make it a hair too early.
    wakeAt: (at, callback) => real.wakeAt(start + (at - start) / factor + 0.001, callback),
  }
}
