/**
 * The charset that a Content-Type names, as browsers read the header: "parse a MIME type" of the MIME Sniffing Standard,
 * and "extract a MIME type" of the Fetch Standard where several headers were joined with commas. A search for the word
 * would find it in quotes, and in parameters such as `xcharset`.
 */

const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/
/** A list's parts: commas in quotes do not part it. */
const PART = /(?:[^",]|"(?:[^"\\]|\\.)*(?:"|\\?$))+/g
/** A parameter: a name, and a value that may be in quotes; what follows the quotes counts for nothing. */
const PARAMETER = /;[\t\n\r ]*([^;=]*)(?:=(?:"((?:[^"\\]|\\.)*\\?)(?:"|$)[^;]*|([^;]*)))?/g
const TYPE = /^[\t\n\r ]*([^/;]*)\/([^;]*)/
const TRAILING_SPACE = /[\t\n\r ]+$/
/** What a value may hold. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** The label as written; undefined if there is none. */
export function charsetOf(contentType: string): string | undefined {
  let essence: string | undefined
  let charset: string | undefined
  for (const [part] of contentType.matchAll(PART)) {
    const named = essenceOf(part)
    if (named === undefined || named === '*/*') continue
    const own = charsetParameter(part)
    // What says the same type once more and names no charset means the charset before.
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

/** The first parameter of that name which has a value. */
function charsetParameter(part: string): string | undefined {
  for (const [, name = '', quoted, bare] of part.matchAll(PARAMETER)) {
    if (name.toLowerCase() !== 'charset') continue
    const value = quoted === undefined ? bare?.replace(TRAILING_SPACE, '') : quoted.replace(/\\(.)/g, '$1')
    if (value !== undefined && VALUE.test(value) && (value !== '' || quoted !== undefined)) return value
  }
  return undefined
}
