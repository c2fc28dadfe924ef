/**
 * The content of a simulated web. Nothing is stored: every host and every answer is computed from the seed and the URL
 * on request, so a web of a million pages needs no memory and a seed replays it exactly.
 */

import { type Random, seededRandom } from '../time.js'
import { fingerprint } from '../url/fingerprint.js'

/** The shape of a simulated web. Shares are between 0 and 1, by default 0. */
export interface WebShape {
  readonly seed: number
  readonly hosts: number
  /** Default 10. */
  readonly pagesPerHost?: number
  /** Default 5. The first link leads to the host's next page. */
  readonly linksPerPage?: number
  /** Share of links that lead to another host. */
  readonly crossHostShare?: number
  /** From request to answer. Default 20 to 200. */
  readonly latencyMs?: readonly [min: number, max: number]
  /** Shares of URLs whose first attempt, or first two, fail in this way. The third always succeeds. */
  readonly failures?: Troubles
  /** Share of links that lead to their page through one to three redirects. */
  readonly redirects?: number
  /** Share of pages that do not exist (404). */
  readonly missing?: number
  /** Share of hosts with a robots.txt. It disallows a quarter of their pages, and some have a Crawl-delay. */
  readonly robots?: number
  /** Share of hosts whose robots.txt always answers 503, which disallows the whole host. */
  readonly brokenRobots?: number
  /** Share of hosts that are ten times slower. */
  readonly slowHosts?: number
  /** Share of hosts that have five times as many pages. */
  readonly largeHosts?: number
  /** Share of hosts with pages under http and https: two origins that share the host's politeness. */
  readonly twoSchemes?: number
}

export interface Troubles {
  /** The fetcher itself reports a timeout. */
  readonly timeout?: number
  /** The connection is lost. */
  readonly reset?: number
  readonly status503?: number
  /** There is no answer at all until the request is aborted. */
  readonly never?: number
}

/** The answer to a request. */
export type Answer =
  | { readonly kind: 'page'; readonly html: string }
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'rules'; readonly text: string }
  | { readonly kind: 'status'; readonly status: 404 | 503 }
  | { readonly kind: 'timeout' | 'reset' | 'never' }

interface HostTraits {
  readonly schemes: readonly string[]
  readonly robots: 'none' | 'rules' | 'broken'
  readonly crawlDelayMs: number
  readonly slow: boolean
  readonly large: boolean
}

const SLOW_FACTOR = 10
const LARGE_FACTOR = 5
/** Share of pages that the robots.txt of a host disallows. */
const CLOSED_SHARE = 0.25
const CRAWL_DELAY_SHARE = 0.3
const MOST_CRAWL_DELAY_S = 6
const MOST_HOPS = 3
const MOST_BAD_TRIES = 2
/** Share of links with a fragment: another spelling of the same page. */
const FRAGMENT_SHARE = 0.1

const URL_PARTS = /^(https?):\/\/h(\d+)\.test(\/.*)$/
const PAGE_PATH = /^\/(?:closed\/)?(\d+)$/
const HOP_PATH = /^\/hop\/(\d+)\/(\d+)\/(\d+)$/

/**
 * The web of one seed. Its pages are `http(s)://h<host>.test/<page>`; those that robots.txt disallows are
 * `/closed/<page>`.
 */
export class WebMap {
  readonly shape: Required<WebShape>
  readonly #hosts = new Map<number, HostTraits>()
  readonly #print = new Uint32Array(2)

  constructor(shape: WebShape) {
    this.shape = {
      pagesPerHost: 10,
      linksPerPage: 5,
      crossHostShare: 0,
      latencyMs: [20, 200],
      failures: {},
      redirects: 0,
      missing: 0,
      robots: 0,
      brokenRobots: 0,
      slowHosts: 0,
      largeHosts: 0,
      twoSchemes: 0,
      ...shape,
    }
  }

  pageUrl(host: number, page: number): string {
    const { schemes, robots } = this.#traits(host)
    const random = this.#randomFor(`page ${host} ${page}`)
    const scheme = schemes[Math.floor(random.next() * schemes.length)]!
    const closed = page > 0 && robots === 'rules' && random.next() < CLOSED_SHARE
    return `${scheme}://h${host}.test/${closed ? 'closed/' : ''}${page}`
  }

  /** The answer to a URL for this attempt; the first is 0. */
  answer(url: string, attempt: number): Answer {
    const [, , hostText, path] = URL_PARTS.exec(url) ?? []
    if (path === undefined || Number(hostText) >= this.shape.hosts) return { kind: 'status', status: 404 }
    const host = Number(hostText)
    const { robots } = this.#traits(host)
    const isRules = path === '/robots.txt'
    if (isRules && robots === 'broken') return { kind: 'status', status: 503 }
    const trouble = this.#trouble(url)
    if (trouble !== undefined && attempt < trouble.tries) {
      return trouble.kind === 'status503' ? { kind: 'status', status: 503 } : { kind: trouble.kind }
    }
    if (isRules) {
      return robots === 'rules' ? { kind: 'rules', text: this.#rules(host) } : { kind: 'status', status: 404 }
    }
    const hop = HOP_PATH.exec(path)
    if (hop !== null) return { kind: 'redirect', location: this.#nextHop(hop) }
    const page = PAGE_PATH.exec(path)
    if (page === null || this.#isMissing(url)) return { kind: 'status', status: 404 }
    return { kind: 'page', html: this.#html(url, host, Number(page[1])) }
  }

  latencyMs(url: string, attempt: number): number {
    const [min, max] = this.shape.latencyMs
    const latency = min + (max - min) * this.#randomFor(`latency ${attempt} ${url}`).next()
    return this.#traits(hostNumber(url)).slow ? latency * SLOW_FACTOR : latency
  }

  /** The links of a page, as written in it. */
  links(url: string, host: number, page: number): string[] {
    const { linksPerPage, crossHostShare, redirects, hosts } = this.shape
    const random = this.#randomFor(`links ${url}`)
    const pick = (count: number) => Math.floor(random.next() * count)
    const hrefs: string[] = []
    for (let i = 0; i < linksPerPage; i++) {
      const toHost = random.next() < crossHostShare ? pick(hosts) : host
      const pages = this.#pagesOf(toHost)
      const toPage = i === 0 && toHost === host ? (page + 1) % pages : pick(pages)
      const target = this.pageUrl(toHost, toPage)
      if (random.next() < redirects) hrefs.push(`/hop/${1 + pick(MOST_HOPS)}/${toHost}/${toPage}`)
      else hrefs.push(random.next() < FRAGMENT_SHARE ? `${target}#part` : relativeTo(url, target))
    }
    return hrefs
  }

  /** Whether the robots.txt of its host allows the URL to be fetched. */
  allows(url: string): boolean {
    const { robots } = this.#traits(hostNumber(url))
    return robots === 'none' || (robots === 'rules' && !url.includes('.test/closed/'))
  }

  /** The Crawl-delay of a host; 0 if it has none. */
  crawlDelayMs(host: string): number {
    return this.#traits(hostNumber(`http://${host}/`)).crawlDelayMs
  }

  #pagesOf(host: number): number {
    const { pagesPerHost } = this.shape
    return this.#traits(host).large ? pagesPerHost * LARGE_FACTOR : pagesPerHost
  }

  #traits(host: number): HostTraits {
    let traits = this.#hosts.get(host)
    if (traits === undefined) {
      const { robots, brokenRobots, slowHosts, largeHosts, twoSchemes } = this.shape
      const random = this.#randomFor(`host ${host}`)
      const rules = random.next()
      const hasRules = rules < robots
      const asksPause = hasRules && random.next() < CRAWL_DELAY_SHARE
      traits = {
        robots: hasRules ? 'rules' : rules < robots + brokenRobots ? 'broken' : 'none',
        crawlDelayMs: asksPause ? 1000 * Math.ceil(random.next() * MOST_CRAWL_DELAY_S) : 0,
        slow: random.next() < slowHosts,
        schemes: random.next() < twoSchemes ? ['http', 'https'] : [random.next() < 0.5 ? 'http' : 'https'],
        large: random.next() < largeHosts,
      }
      this.#hosts.set(host, traits)
    }
    return traits
  }

  #trouble(url: string): { kind: keyof Troubles; tries: number } | undefined {
    const random = this.#randomFor(`trouble ${url}`)
    const tries = 1 + Math.floor(random.next() * MOST_BAD_TRIES)
    let draw = random.next()
    for (const [kind, share] of Object.entries(this.shape.failures) as [keyof Troubles, number][]) {
      if (draw < share) return { kind, tries }
      draw -= share
    }
    return undefined
  }

  #isMissing(url: string): boolean {
    return this.#randomFor(`missing ${url}`).next() < this.shape.missing
  }

  #nextHop([, hops, host, page]: readonly string[]): string {
    if (Number(hops) > 1) return `/hop/${Number(hops) - 1}/${host}/${page}`
    return this.pageUrl(Number(host), Number(page))
  }

  #rules(host: number): string {
    const { crawlDelayMs } = this.#traits(host)
    const pause = crawlDelayMs > 0 ? `Crawl-delay: ${crawlDelayMs / 1000}\n` : ''
    return `User-agent: *\n${pause}Disallow: /closed/\n`
  }

  #html(url: string, host: number, page: number): string {
    const anchors = this.links(url, host, page).map((href) => `<a href="${href}">${href}</a>`)
    return `<!doctype html><title>Page ${page} of host ${host}</title><p>${anchors.join('\n')}</p>`
  }

  /** Random numbers that depend only on the seed and this key. */
  #randomFor(key: string): Random {
    fingerprint(`${this.shape.seed} ${key}`, this.#print)
    return seededRandom(this.#print[0]!)
  }
}

/** The number of a URL's host in this web; NaN for other hosts. */
function hostNumber(url: string): number {
  return Number(URL_PARTS.exec(url)?.[2])
}

function relativeTo(url: string, target: string): string {
  const origin = url.slice(0, url.indexOf('/', 'https://'.length))
  return target.startsWith(`${origin}/`) ? target.slice(origin.length) : target
}
