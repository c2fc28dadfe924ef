/**
 * Recognizes text that is already canonical: links that contain nothing else need no parser. Anything these expressions do
 * not match is left to `canonicalizeUrl`: a false negative costs a microsecond, a false positive would give one page two
 * spellings.
 *
 * They are regular expressions because V8 compiles them to a scan of about a nanosecond per character, four times faster
 * than a loop over `charCodeAt`. They are sticky: `endOf` sets where they start and reads where they ended. No two adjacent
 * parts can match the same character, so none of them backtracks.
 */

/** Characters that need no encoding anywhere after the host. */
const COMMON = 'A-Za-z0-9\\-_~!$&()*+,;=@[\\]|'

/** A percent-encoded byte in upper case that must stay: not a letter, a digit or `-._~`. */
const ESCAPE = '%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF])'

/** Segments that start with a dot are left to the parser. */
const SEGMENT = `(?!\\.)${run(`[${COMMON}.:']`)}`

/** Without a colon, so that it cannot be a scheme. */
const FIRST_SEGMENT = `(?!\\.)${run(`[${COMMON}.']`)}`

const PATH = `(?:/${SEGMENT})*`

/** The parser encodes an apostrophe here, though not in a path. An empty query is dropped. */
const QUERY = `(?:\\?(?=[^#])${run(`[${COMMON}.:/?]`)})?`

/** The rest is an empty query, a fragment or nothing, and not part of the canonical URL. */
const END = '(?=\\??(?:#|$))'

/** Single hyphens (`xn--` is left to the parser), and the last label is not a number, as in an IP address. */
const LABEL = '[a-z0-9]+(?:-[a-z0-9]+)*'
const HOST = `(?:${LABEL}\\.)*(?=[a-z])${LABEL}(?=/)`

/** `/a/b?x=1`, `?x=1` or nothing at all. */
export const PLAIN_PATH = new RegExp(PATH + QUERY + END, 'y')

/** `a/b?x=1` */
export const PLAIN_RELATIVE = new RegExp(FIRST_SEGMENT + PATH + QUERY + END, 'y')

/** `example.com/a/b?x=1` */
export const PLAIN_HOST_AND_PATH = new RegExp(HOST + PATH + QUERY + END, 'y')

/** `https://example.com/a/b?x=1` */
export const PLAIN_HTTP_URL = new RegExp(`https?://${HOST}${PATH}${QUERY}${END}`, 'y')

/** The start of a URL that is not http(s). The longest registered schemes have about thirty characters. */
export const OTHER_SCHEME = /^(?!https?:)[a-z][a-z0-9+.-]{0,40}:/i

/** The text did not match. */
export const NO_END = -1

/** Regular expressions may run out of memory on a text of many megabytes; no plain link is that long. */
const LONGEST_PLAIN = 4096

/** End of the match that starts at `start`, or NO_END. */
export function endOf(expression: RegExp, text: string, start: number): number {
  if (text.length > LONGEST_PLAIN) return NO_END
  expression.lastIndex = start
  return expression.test(text) ? expression.lastIndex : NO_END
}

/** Any number of these characters and percent-encoded bytes. */
function run(letter: string): string {
  return `${letter}*(?:${ESCAPE}${letter}*)*`
}
