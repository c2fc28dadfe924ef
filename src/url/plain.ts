/**
 * Which text is already canonical? Links that consist of nothing else need no parser. Whatever these expressions
 * do not match is doubtful, and only `canonicalizeUrl` knows: doubt costs a microsecond, while a wrong certainty
 * would give one page two spellings.
 *
 * They are regular expressions because V8 compiles them to a scan of about a nanosecond a character, four times
 * quicker than a loop over `charCodeAt`. They are sticky: `endOf` sets where they begin and reads where they
 * ended. No two parts that follow one another can match the same character, so none backtracks over its text.
 */

/** Characters that stand for themselves in every part behind the host. */
const COMMON = 'A-Za-z0-9\\-_~!$&()*+,;=@[\\]|'

/** An escape in upper case that must stay: not one of a letter, a digit or `-._~`. */
const ESCAPE = '%(?:[0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[B-DF])'

/** Segments that begin with a dot are for the parser. */
const SEGMENT = `(?!\\.)${run(`[${COMMON}.:']`)}`

/** Without a colon it cannot be taken for a scheme. */
const FIRST_SEGMENT = `(?!\\.)${run(`[${COMMON}.']`)}`

const PATH = `(?:/${SEGMENT})*`

/** The parser escapes an apostrophe here, though not in a path. An empty query is no query. */
const QUERY = `(?:\\?(?=[^#])${run(`[${COMMON}.:/?]`)})?`

/** What remains is an empty query, a fragment or nothing; it does not belong to the URL. */
const END = '(?=\\??(?:#|$))'

/** Hyphens stand alone (`xn--` is for the parser), and the last label is not a number, as in an IP address. */
const LABEL = '[a-z0-9]+(?:-[a-z0-9]+)*'
const HOST = `(?:${LABEL}\\.)*(?=[a-z])${LABEL}(?=/)`

/** `/a/b?x=1`, `?x=1` and nothing at all. */
export const PLAIN_PATH = new RegExp(PATH + QUERY + END, 'y')

/** `a/b?x=1` */
export const PLAIN_RELATIVE = new RegExp(FIRST_SEGMENT + PATH + QUERY + END, 'y')

/** `example.com/a/b?x=1` */
export const PLAIN_HOST_AND_PATH = new RegExp(HOST + PATH + QUERY + END, 'y')

/** `https://example.com/a/b?x=1` */
export const PLAIN_HTTP_URL = new RegExp(`https?://${HOST}${PATH}${QUERY}${END}`, 'y')

/** The beginning of a URL that leads to no page. The longest registered schemes have some thirty letters. */
export const OTHER_SCHEME = /^(?!https?:)[a-z][a-z0-9+.-]{0,40}:/i

/** The text is doubtful. */
export const NO_END = -1

/** A regular expression may fail for want of memory on a text of many megabytes; no plain link is that long. */
const LONGEST_PLAIN = 4096

/** Where the match that begins at `start` ends, or NO_END. */
export function endOf(expression: RegExp, text: string, start: number): number {
  if (text.length > LONGEST_PLAIN) return NO_END
  expression.lastIndex = start
  return expression.test(text) ? expression.lastIndex : NO_END
}

/** Any number of these characters, and escapes between them. */
function run(letter: string): string {
  return `${letter}*(?:${ESCAPE}${letter}*)*`
}
