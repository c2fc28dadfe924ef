/**
 * Links become URLs here, sixty a page and millions a crawl. Parsing each with `URL` would cost as much as
 * fetching the page; but most links are plain enough to be joined to their base as text. This file recognises
 * those, and hands everything doubtful to `canonicalizeUrl`.
 */

import { flat } from '../owned.js'
import { canonicalizeUrl, originOf, parseUrl } from './canonicalize.js'
import {
  endOf,
  NO_END,
  OTHER_SCHEME,
  PLAIN_HOST_AND_PATH,
  PLAIN_HTTP_URL,
  PLAIN_PATH,
  PLAIN_RELATIVE,
} from './plain.js'

/** How the queries of a page's links are written: browsers use the charset of the page. */
export interface QueryEncoding {
  /** A query without its question mark. ASCII stays as it is; what is beyond comes back in escapes. */
  encode(query: string): string
}

/** A page's address, cut up once so that its links can be joined to it. Made by `baseFor`. */
export interface Base {
  readonly url: string
  /** `https://example.com`; empty for a base that is not http(s), to which no relative link can be joined. */
  readonly origin: string
  /** `https://` */
  readonly scheme: string
  /** Without the query: what a link such as `?page=2` is put behind. */
  readonly document: string
  /** Up to the last slash: what a link such as `b.html` is put behind. */
  readonly directory: string
  /** Undefined: UTF-8. */
  readonly queries: QueryEncoding | undefined
}

/**
 * What a page's links are relative to. `url` must be canonical, or what `resolveBase` made of a `base` element.
 *
 * @example
 * const page = baseFor('https://example.com/a/b?x=1')
 * const base = baseFor(resolveBase('/docs/', page)) // the page says <base href="/docs/">
 */
export function baseFor(url: string): Base {
  const origin = url.startsWith('http') ? originOf(url) : ''
  const query = url.indexOf('?')
  const document = query < 0 ? url : url.slice(0, query)
  return {
    url,
    origin,
    scheme: url.startsWith('https:') ? 'https://' : 'http://',
    document,
    directory: document.slice(0, document.lastIndexOf('/') + 1),
    queries: undefined,
  }
}

/** The same base on a page whose charset is not UTF-8. */
export function withQueriesIn(queries: QueryEncoding | undefined, base: Base): Base {
  return queries === undefined ? base : { ...base, queries }
}

/**
 * The canonical URL of a link; undefined if it does not lead to an http(s) address. Always the answer of
 * `canonicalizeUrl(href, base.url)`, with the query in the page's charset; six to fourteen times sooner for a plain link.
 *
 * The answer holds no reference to `href`, which may be a slice that keeps a whole page in memory.
 *
 * @example
 * const base = baseFor('https://example.com/a/b')
 * resolve('c?x=1#top', base)   // 'https://example.com/a/c?x=1'
 * resolve('/c', base)          // 'https://example.com/c'
 * resolve('mailto:x@y', base)  // undefined
 */
export function resolve(href: string, base: Base): string | undefined {
  if (base.origin === '') return parsed(href, base)
  switch (href.charCodeAt(0)) {
    case SLASH:
      if (href.charCodeAt(1) === SLASH) return join(base.scheme, PLAIN_HOST_AND_PATH, href, '//'.length, base)
      return join(base.origin, PLAIN_PATH, href, 0, base)
    case HASH:
      return base.url
    case QUESTION:
      return join(base.document, PLAIN_PATH, href, 0, base)
    case DOT:
      return withDots(href, base)
    case SMALL_H:
      if (href.startsWith('http')) return withScheme(href, base)
  }
  if (href.length === 0) return base.url
  const end = endOf(PLAIN_RELATIVE, href, 0)
  if (end !== NO_END) return flat(base.directory + href.slice(0, end))
  return OTHER_SCHEME.test(href) ? undefined : parsed(href, base)
}

/**
 * What a page's links are relative to if its `base` element says `href`. One that leads to no page (`ftp:`, `mailto:`)
 * is the base all the same; one that cannot be read, and `data:` and `javascript:`, are as if there were none.
 */
export function resolveBase(href: string, page: Base): string {
  const url = resolve(href, page)
  if (url !== undefined) return url
  const other = parseUrl(href, page.url)
  return other === undefined || NO_BASE.has(other.protocol) ? page.url : other.href
}

const NO_BASE: ReadonlySet<string> = new Set(['data:', 'javascript:'])

/** What the parser makes of a link. Only here may a query hold more than ASCII: what is plain does not. */
function parsed(href: string, base: Base): string | undefined {
  return canonicalizeUrl(base.queries === undefined ? href : withQuery(href, base.queries), base.url)
}

/** Every URL that leads to a page has its query between the first `?` and the first `#`. */
function withQuery(href: string, queries: QueryEncoding): string {
  const hash = href.indexOf('#')
  const address = hash < 0 ? href : href.slice(0, hash)
  const query = address.indexOf('?') + 1
  return query === 0 ? address : address.slice(0, query) + queries.encode(address.slice(query))
}

const HASH = 0x23
const DOT = 0x2e
const SLASH = 0x2f
const COLON = 0x3a
const QUESTION = 0x3f
const SMALL_H = 0x68

/** `front` and the plain text that begins at `start`; if it is not plain, what the parser makes of the link. */
function join(front: string, plain: RegExp, href: string, start: number, base: Base): string | undefined {
  const end = endOf(plain, href, start)
  return end === NO_END ? parsed(href, base) : flat(front + href.slice(start, end))
}

function withScheme(href: string, base: Base): string | undefined {
  const scheme = href.charCodeAt('http'.length) === COLON ? 'http://' : 'https://'
  const end = endOf(PLAIN_HTTP_URL, href, 0)
  if (end !== NO_END) return flat(scheme + href.slice(scheme.length, end))
  // The page's own host is canonical, however odd: an IP address, a port, an international name.
  const path = base.origin.length
  if (href.startsWith(base.origin) && href.charCodeAt(path) === SLASH) {
    return join(base.origin, PLAIN_PATH, href, path, base)
  }
  return parsed(href, base)
}

/** `./` stays in the directory and every `../` at the beginning leaves one, but never the root. */
function withDots(href: string, base: Base): string | undefined {
  const root = base.origin.length
  let start = 0
  let slash = base.directory.length - 1
  while (href.charCodeAt(start) === DOT) {
    if (href.charCodeAt(start + 1) === SLASH) {
      start += './'.length
    } else if (href.charCodeAt(start + 1) === DOT && href.charCodeAt(start + 2) === SLASH) {
      start += '../'.length
      if (slash > root) slash = base.directory.lastIndexOf('/', slash - 1)
    } else {
      return parsed(href, base)
    }
  }
  return join(base.directory.slice(0, slash + 1), PLAIN_RELATIVE, href, start, base)
}
