/** The sites that are crawled while the crawler is being killed, and how fast they let it go. */

import type { LoopbackWeb, WebOptions } from '../loopback/web.js'
import type { Span } from './interrupted-crawl.js'

export interface Site {
  readonly name: string
  readonly hosts: number
  /** The last of them is closed by robots.txt. */
  readonly pagesPerHost: number
  readonly latencyMs: number | [number, number]
  readonly delayMs: number
  readonly concurrency: number
  /** When kills come, after the first request of a run. */
  readonly kills: Span
}

/**
 * Many pages, no pauses: whatever is wrong with commits shows in numbers. Answers take some ms, so that every kill
 * catches requests in flight.
 */
export const quickSite: Site = {
  name: 'quick',
  hosts: 200,
  pagesPerHost: 101,
  latencyMs: [1, 20],
  delayMs: 0,
  concurrency: 40,
  kills: { earliestMs: 20, latestMs: 600 },
}

/**
 * Hosts that want more time to rest than a restart takes, even on a busy machine: a crawler that forgets when it visited
 * them comes back too early.
 */
export const restingSite: Site = {
  name: 'resting',
  hosts: 2000,
  pagesPerHost: 11,
  latencyMs: [1, 20],
  delayMs: 1500,
  concurrency: 100,
  kills: { earliestMs: 20, latestMs: 1200 },
}

/** Small pages with few links: the store is under test here, not the scanner. */
const PAGES = { linksPerPage: 20, bytes: 4096, crossHostShare: 0.1 }

/** The crawl finds all other hosts by links, so that most of what a kill could lose was found and not given. */
const SEEDS = 20

/** What to start the site's server with. */
export function webOf({ hosts, pagesPerHost, latencyMs }: Site): WebOptions {
  // The last page of a host links to no page that others do not link to, so that closing it hides nothing else.
  const robots = `User-agent: *\nDisallow: /p/${pagesPerHost - 1}$\n`
  return { ...PAGES, hosts, pagesPerHost, latencyMs, robots }
}

export function seedsOf(web: LoopbackWeb): string[] {
  return web.seeds(SEEDS)
}

/** The URLs that a whole crawl must fetch. */
export function openPages(site: Site, web: LoopbackWeb): Set<string> {
  const open = new Set<string>()
  for (let host = 0; host < site.hosts; host++) {
    for (let page = 0; page < site.pagesPerHost - 1; page++) open.add(web.url(host, page))
  }
  return open
}

/** The URLs that no crawl may fetch. */
export function closedPages(site: Site, web: LoopbackWeb): Set<string> {
  return new Set(Array.from({ length: site.hosts }, (_, host) => web.url(host, site.pagesPerHost - 1)))
}
