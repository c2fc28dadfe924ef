/**
 * When are two pages the same to a crawler? Not when their bytes are: a session id in every link, the time of day and
 * a visitor count make each copy unique. And not when their words are: two pages of a gallery may differ in the numbers
 * of their links alone. So the digest is made of the words of the text without anything that has a digit in it, and of
 * the addresses of links without what looks like a session.
 *
 * What looks like a session: a long run with digits, and a run with digits that stands in a good part of the links of
 * the page. A run of the page's own URL is left out as well: the year of a calendar, which all its links repeat. Links
 * below the page's own directory count as if they were relative, so that a site which repeats itself
 * under ever longer paths looks the same at every depth.
 */

/** Pages that agree in so much are the same; a body of many megabytes must not hold up the others (2 ns a byte). */
const MOST_BYTES = 2 ** 20
/** Content ids have up to nine digits as a rule; session ids and times in seconds have more. */
const SESSION_LENGTH = 10
/** An item of a list is linked two or three times; a session stands in all links but those that lead elsewhere. */
const SESSION_SHARE = 1 / 4
const SESSION_LINKS = 3
/** Runs with digits that are compared with each other; those beyond count, each for itself. */
const MOST_RUNS = 4096
/** Runs with digits of a page's own URL that are looked for in its links. */
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
 * Writes the digest of a page to `into[0]` and `into[1]`. `url` is the page's own, canonical. Made for HTML in any
 * charset that contains ASCII; of other text it takes the words.
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

/** One for all pages: it is used up before the next page is begun. */
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

  /** Takes in words up to the next `<`, and says where that is. */
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

  /** Takes in the addresses of a tag that begins at `at`, and says where text goes on. */
  tag(body: Uint8Array, at: number, end: number): number {
    const name = at + 1
    if (KINDS[body[name] ?? 0] !== LETTER) return name
    at = name
    while (at < end && body[at] !== CLOSE_TAG) {
      if (body[at++] === EQUALS && endsInHref(body, at - 1)) at = this.#value(body, at, end)
    }
    // What scripts and styles hold is not read by people, and full of numbers made on the spot.
    const isHidden = startsWith(body, name, 'script') || startsWith(body, name, 'style')
    return isHidden ? endTag(SMALL_S, body, at, end) : at
  }

  /** A run that occurs in few links counts, wherever it stands. */
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

/** Without regard to the case of letters, as markup is. `text` is in lower case, or a path, whose case rarely differs. */
function startsWith(body: Uint8Array, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const wanted = text.charCodeAt(i)
    const found = body[at + i]
    if (found !== wanted && (found === undefined || (found | TO_LOWER) !== wanted)) return false
  }
  return true
}

/** Where the next end tag with this first letter begins; as in browsers, a script that does not end goes on to the end. */
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
