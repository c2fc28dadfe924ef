/**
 * One spelling per URL. Two spellings of one URL would be fetched twice, and a spelling that depended on the version of
 * Node.js would make a stored crawl forget what it has seen; so every URL passes through here first.
 */

/** Increment it whenever `canonicalizeUrl` spells a URL differently: durable stores keep it with their keys. */
export const CANONICALIZER_VERSION = 1

const ESCAPE = /%[0-9A-Fa-f]{2}/g
const ASCII = /^[\0-\x7f]*$/
const UNRESERVED = /[A-Za-z0-9\-._~]/

/**
 * The canonical form of an absolute or relative http(s) URL; undefined for other schemes and for invalid URLs.
 * Idempotent: a canonical URL is returned unchanged.
 *
 * It parses as browsers do (WHATWG), drops fragment, credentials and an empty query, writes percent-encoded bytes in upper
 * case and decodes those of letters, digits and `-._~`. It never guesses: the order of parameters, a trailing slash,
 * `index.html` and `www.` stay, because they matter on some servers.
 *
 * @example
 * canonicalizeUrl('HTTP://Example.com:80/a/../%7euser?#top') // 'http://example.com/~user'
 * canonicalizeUrl('../b?x=1', 'https://example.com/a/')      // 'https://example.com/b?x=1'
 * canonicalizeUrl('mailto:me@example.com')                   // undefined
 */
export function canonicalizeUrl(href: string, base?: string): string | undefined {
  const url = parseUrl(href, base)
  if (url === undefined) return undefined
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined
  return url.origin + spellPath(url.pathname) + spellEscapes(url.search)
}

/** Parses a URL; undefined if it is invalid. */
export function parseUrl(href: string, base?: string): URL | undefined {
  if (ASCII.test(href) && (base === undefined || ASCII.test(base))) {
    // Checking first is forty times cheaper than catching the exception, and a page may be full of broken links.
    return URL.canParse(href, base) ? new URL(href, base) : undefined
  }
  // Once V8 has optimized the call, `canParse` of Node.js 20 misreads characters such as ü and returns wrong results.
  try {
    return new URL(href, base)
  } catch {
    return undefined
  }
}

/**
 * The canonical form of a path that `URL` has parsed. The caret is the only character in paths on which supported versions
 * of Node.js differ: older ones leave it, the standard now percent-encodes it.
 */
export function spellPath(path: string): string {
  return spellEscapes(path.includes('^') ? path.replaceAll('^', '%5E') : path)
}

/** Writes percent-encoded bytes in upper case, and decodes those that need no encoding. */
export function spellEscapes(text: string): string {
  return text.includes('%') ? text.replace(ESCAPE, spellEscape) : text
}

function spellEscape(written: string, at: number, text: string): string {
  const character = String.fromCharCode(Number.parseInt(written.slice(1), 16))
  if (!UNRESERVED.test(character)) return written.toUpperCase()
  // After a stray '%', a decoded digit could complete an escape that was not there (`%%34%31` is not `A`).
  const behindStray = text[at - 1] === '%' || text[at - 2] === '%'
  return behindStray ? written.toUpperCase() : character
}

/**
 * The host of a canonical URL, with the port unless it is the scheme's default.
 *
 * @example
 * hostOf('https://example.com:8080/a') // 'example.com:8080'
 */
export function hostOf(canonicalUrl: string): string {
  const start = hostStart(canonicalUrl)
  return canonicalUrl.slice(start, canonicalUrl.indexOf('/', start))
}

/**
 * Scheme and host of a canonical URL.
 *
 * @example
 * originOf('https://example.com:8080/a') // 'https://example.com:8080'
 */
export function originOf(canonicalUrl: string): string {
  return canonicalUrl.slice(0, canonicalUrl.indexOf('/', hostStart(canonicalUrl)))
}

/**
 * Path and query of a canonical URL.
 *
 * @example
 * pathOf('https://example.com/a?x=1') // '/a?x=1'
 */
export function pathOf(canonicalUrl: string): string {
  return canonicalUrl.slice(canonicalUrl.indexOf('/', hostStart(canonicalUrl)))
}

/** Start of the host, after `http://` or `https://`, the only schemes of a canonical URL. */
function hostStart(canonicalUrl: string): number {
  return canonicalUrl.startsWith('https:') ? 'https://'.length : 'http://'.length
}
