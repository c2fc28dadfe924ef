/**
 * The charset of a Content-Type header, as browsers read it: "parse a MIME type" of the MIME Sniffing Standard, and
 * "extract a MIME type" of the Fetch Standard if several headers were joined with commas. Searching for the word would also
 * find it in quotes, and in parameters such as `xcharset`.
 */

const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/
/** Parts of a comma-separated list; commas in quotes do not separate. */
const PART = /(?:[^",]|"(?:[^"\\]|\\.)*(?:"|\\?$))+/g
/** A parameter: a name and a value, which may be quoted; anything after the quotes is ignored. */
const PARAMETER = /;[\t\n\r ]*([^;=]*)(?:=(?:"((?:[^"\\]|\\.)*\\?)(?:"|$)[^;]*|([^;]*)))?/g
const TYPE = /^[\t\n\r ]*([^/;]*)\/([^;]*)/
const TRAILING_SPACE = /[\t\n\r ]+$/
/** Characters of a valid value. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** The label as written; undefined if there is none. */
export function charsetOf(contentType: string): string | undefined {
  let essence: string | undefined
  let charset: string | undefined
  for (const [part] of contentType.matchAll(PART)) {
    const named = essenceOf(part)
    if (named === undefined || named === '*/*') continue
    const own = charsetParameter(part)
    // The same type again, without a charset, keeps the charset before it.
    if (own !== undefined || named !== essence) charset = own
    essence = named
  }
  return charset
}

function essenceOf(part: string): string | undefined {
  const [, type = '', written = ''] = TYPE.exec(part) ?? []
  const subtype = written.replace(TRAILING_SPACE, '')
  return TOKEN.test(type) && TOKEN.test(subtype) ? `${type}/${subtype}`.toLowerCase() : undefined
}

/** The first parameter of that name with a value. */
function charsetParameter(part: string): string | undefined {
  for (const [, name = '', quoted, bare] of part.matchAll(PARAMETER)) {
    if (name.toLowerCase() !== 'charset') continue
    const value = quoted === undefined ? bare?.replace(TRAILING_SPACE, '') : quoted.replace(/\\(.)/g, '$1')
    if (value !== undefined && VALUE.test(value) && (value !== '' || quoted !== undefined)) return value
  }
  return undefined
}
