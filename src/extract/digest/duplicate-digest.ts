/**
 * Detects pages that are the same to a crawler. Comparing bytes would not do: a session ID in every link, the time of day
 * and a visitor count make every copy unique. Comparing words would not do either: two pages of a gallery may differ only
 * in the numbers of their links. So the digest covers the words of the text that contain no digit, and the URLs of links
 * without what looks like a session ID.
 *
 * What looks like a session ID: a long run of letters and digits with a digit in it, or one that occurs in a large share of
 * the page's links. Runs of the page's own URL are ignored as well, such as the year of a calendar, which all its links
 * repeat. URLs below the page's own directory count as relative, so that a site that repeats itself under ever longer paths
 * looks the same at every depth.
 */

/** Pages that agree in this many bytes are the same. It also bounds the time for large bodies (2 ns a byte). */
const MOST_BYTES = 2 ** 20
/** Content IDs usually have up to nine digits; session IDs and timestamps have more. */
const SESSION_LENGTH = 10
/** A list item is linked two or three times; a session ID is in all links except external ones. */
const SESSION_SHARE = 1 / 4
const SESSION_LINKS = 3
/** Runs with digits to compare with each other; further ones count individually. */
const MOST_RUNS = 4096
/** Runs with digits of a page's own URL to look for in its links. */
const MOST_OWN_RUNS = 8

const OTHER = 0
const LETTER = 1
const DIGIT = 2
const OPEN = 3

const OPEN_TAG = 0x3c
const CLOSE_TAG = 0x3e
const SLASH = 0x2f
const SMALL_S = 0x73
const EQUALS = 0x3d
const DOUBLE_QUOTE = 0x22
const SINGLE_QUOTE = 0x27
const SPACE = 0x20
const TO_LOWER = 0x20
const RUN_PRIME = 0x01000193

const KINDS = new Uint8Array(256)
for (let code = 0; code < 256; code++) {
  const isLetter = code >= 0x80 || /[a-z]/i.test(String.fromCharCode(code))
  KINDS[code] = isLetter ? LETTER : OTHER
}
for (let code = 0x30; code <= 0x39; code++) KINDS[code] = DIGIT
KINDS[OPEN_TAG] = OPEN

/**
 * Writes the digest of a page to `into[0]` and `into[1]`. `url` is the page's canonical URL. Made for HTML in any encoding
 * that contains ASCII; for other text it covers the words.
 */
export function duplicateDigest(body: Uint8Array, url: string, into: Uint32Array): void {
  digester.start(url)
  const end = Math.min(body.length, MOST_BYTES)
  let at = 0
  while (at < end) {
    at = digester.text(body, at, end)
    if (at < end) at = digester.tag(body, at, end)
  }
  digester.finish(into)
}

/** Shared by all pages: a page is finished before the next one starts. */
class Digester {
  #low = 0
  #high = 0
  #links = 0
  #runs = 0
  readonly #found = new Int32Array(MOST_RUNS)
  #ownRuns = 0
  readonly #own = new Int32Array(MOST_OWN_RUNS)
  #directory = ''
  #path = ''

  start(url: string): void {
    this.#low = 0x3c6ef372
    this.#high = 0xa54ff53a | 0
    this.#links = 0
    this.#runs = 0
    const query = url.indexOf('?')
    const document = query < 0 ? url : url.slice(0, query)
    this.#directory = document.slice(0, document.lastIndexOf('/') + 1)
    const path = this.#directory.indexOf('/', 'https://'.length)
    this.#path = this.#directory.slice(path)
    this.#takeOwnRuns(url, path)
  }

  #takeOwnRuns(url: string, at: number): void {
    this.#ownRuns = 0
    let hash = 0
    let hasDigit = false
    for (; at <= url.length && this.#ownRuns < MOST_OWN_RUNS; at++) {
      const code = at < url.length ? url.charCodeAt(at) : SLASH
      const kind = KINDS[code]!
      if (kind === LETTER || kind === DIGIT) {
        hash = (Math.imul(hash ^ code, RUN_PRIME) + 1) | 0
        if (kind === DIGIT) hasDigit = true
        continue
      }
      if (hasDigit) this.#own[this.#ownRuns++] = hash
      hash = 0
      hasDigit = false
    }
  }

  /** Adds words up to the next `<`; returns its position. */
  text(body: Uint8Array, at: number, end: number): number {
    let hash = 0
    let hasDigit = false
    for (; at < end; at++) {
      const code = body[at]!
      const kind = KINDS[code]!
      if (kind === LETTER) {
        hash = (Math.imul(hash ^ code, RUN_PRIME) + 1) | 0
      } else if (kind === DIGIT) {
        hasDigit = true
      } else {
        if (hash !== 0 && !hasDigit) this.#fold(hash)
        if (kind === OPEN) return at
        hash = 0
        hasDigit = false
      }
    }
    if (hash !== 0 && !hasDigit) this.#fold(hash)
    return end
  }

  /** Adds the URLs of a tag that starts at `at`; returns the position where text continues. */
  tag(body: Uint8Array, at: number, end: number): number {
    const name = at + 1
    if (KINDS[body[name] ?? 0] !== LETTER) return name
    at = name
    while (at < end && body[at] !== CLOSE_TAG) {
      if (body[at++] === EQUALS && endsInHref(body, at - 1)) at = this.#value(body, at, end)
    }
    // Scripts and styles are invisible, and full of generated numbers.
    const isHidden = startsWith(body, name, 'script') || startsWith(body, name, 'style')
    return isHidden ? endTag(SMALL_S, body, at, end) : at
  }

  /** Adds the runs that occur in few links, in any order. */
  finish(into: Uint32Array): void {
    const runs = this.#found.subarray(0, this.#runs).sort()
    const session = Math.max(SESSION_LINKS, this.#links * SESSION_SHARE)
    for (let first = 0; first < runs.length; ) {
      let next = first + 1
      while (next < runs.length && runs[next] === runs[first]) next++
      if (next - first < session) this.#fold(runs[first]!)
      first = next
    }
    into[0] = mix(this.#low ^ (this.#high >>> 7))
    into[1] = mix(Math.imul(this.#high, 0x9e3779b1) + this.#low)
  }

  #value(body: Uint8Array, at: number, end: number): number {
    this.#links++
    const quote = body[at] === DOUBLE_QUOTE || body[at] === SINGLE_QUOTE ? body[at++]! : 0
    if (startsWith(body, at, this.#path)) at += this.#path.length
    else if (startsWith(body, at, this.#directory)) at += this.#directory.length
    let hash = 0
    let begin = at
    let hasDigit = false
    for (; ; at++) {
      const code = at < end ? body[at]! : CLOSE_TAG
      const kind = KINDS[code]!
      if (kind === LETTER || kind === DIGIT) {
        hash = (Math.imul(hash ^ code, RUN_PRIME) + 1) | 0
        if (kind === DIGIT) hasDigit = true
        continue
      }
      if (hash !== 0) this.#run(hash, at - begin, hasDigit)
      const isOver = quote === 0 ? code === CLOSE_TAG || code <= SPACE : code === quote || at >= end
      if (isOver) return at
      begin = at + 1
      hash = 0
      hasDigit = false
    }
  }

  #run(hash: number, length: number, hasDigit: boolean): void {
    if (hasDigit) {
      if (length >= SESSION_LENGTH) return
      for (let i = 0; i < this.#ownRuns; i++) if (this.#own[i] === hash) return
    }
    if (hasDigit && this.#runs < MOST_RUNS) this.#found[this.#runs++] = hash
    else this.#fold(hash)
  }

  #fold(hash: number): void {
    const low = Math.imul(this.#low ^ hash, 0xcc9e2d51)
    this.#low = (low << 15) | (low >>> 17)
    const high = Math.imul((this.#high + hash) | 0, 0x85ebca77)
    this.#high = (high << 13) | (high >>> 19)
  }
}

const digester = new Digester()

function endsInHref(body: Uint8Array, end: number): boolean {
  return end >= 4 && startsWith(body, end - 4, 'href')
}

/** Case-insensitive, as markup is. `text` is in lower case, or a path, whose case rarely differs. */
function startsWith(body: Uint8Array, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const wanted = text.charCodeAt(i)
    const found = body[at + i]
    if (found !== wanted && (found === undefined || (found | TO_LOWER) !== wanted)) return false
  }
  return true
}

/** Position of the next end tag with this first letter; as in browsers, a script without one extends to the end. */
function endTag(letter: number, body: Uint8Array, at: number, end: number): number {
  for (; at < end; at++) {
    if (body[at] !== OPEN_TAG || body[at + 1] !== SLASH) continue
    if (((body[at + 2] ?? 0) | TO_LOWER) === letter) return at
  }
  return end
}

function mix(x: number): number {
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d)
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b)
  return x ^ (x >>> 16)
}
