import type { CrawlRequest, Purpose } from '../types.js'
import { fingerprintText } from './fingerprint.js'

const SITEMAP = 'sitemap '
const ROBOTS = 'robots '
const FEED = 'feed '
const NO_URLS: readonly string[] = Object.freeze([])
/** Distinguishes bytes, which are written in base64, from the same text. */
const BYTES = '\0'
/** A method other than GET, or a body: `POST 0123456789abcdef https://…`. */
const METHOD = /^[!#-'*+.0-9A-Z^-z|~-]+ [0-9a-f]{16} /

/**
 * The key of a request in the seen-set: its URL. A request for another purpose than the page, with another method or
 * with a body, is something else and has another key.
 */
export function knownAs({ url, purpose, extras }: Pick<CrawlRequest, 'url' | 'purpose' | 'extras'>): string {
  if (purpose !== undefined) return nameFor(purpose, url)
  if (extras === undefined) return url
  const { method = 'GET', body = '', binary } = extras
  if (method === 'GET' && body === '') return url
  return `${method} ${fingerprintText(binary ? BYTES + body : body)} ${url}`
}

function nameFor({ kind }: Purpose, url: string): string {
  if (kind === 'feed') return feedName(url)
  return kind === 'sitemap' ? sitemapName(url) : ROBOTS + url
}

/** The name of a request in the `via` of the requests that it redirects to. */
export function redirectName(request: Pick<CrawlRequest, 'url' | 'purpose' | 'extras'>): string {
  return request.purpose === undefined ? knownAs(request) : request.url
}

/** The URLs that redirected to a request, first to last. */
export function redirectedFrom({ via }: Pick<CrawlRequest, 'via'>): readonly string[] {
  return via === undefined ? NO_URLS : via.map(urlIn)
}

export function sitemapName(url: string): string {
  return SITEMAP + url
}

export function feedName(url: string): string {
  return FEED + url
}

/** The URL in a key. */
export function urlIn(name: string): string {
  if (name.startsWith(FEED)) return name.slice(FEED.length)
  if (name.startsWith(SITEMAP)) return name.slice(SITEMAP.length)
  if (name.startsWith(ROBOTS)) return name.slice(ROBOTS.length)
  return name.startsWith('http') ? name : name.replace(METHOD, '')
}
