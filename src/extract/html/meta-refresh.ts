/** The target of `<meta http-equiv=refresh content="5; url=…">`, by the shared declarative refresh steps of HTML. */

import { DOUBLE_QUOTE, EQUALS, isDigit, isSpace, isWordAt, SINGLE_QUOTE } from './characters.js'

const COMMA = 0x2c
const FULL_STOP = 0x2e
const SEMICOLON = 0x3b

/** The URL as written, or undefined if there is none: such a page only reloads itself, which is not a link. */
export function refreshUrl(content: string): string | undefined {
  let at = skipSpace(content, 0)
  const time = at
  while (isDigit(content.charCodeAt(at))) at++
  if (at === time && content.charCodeAt(at) !== FULL_STOP) return undefined
  while (isDigit(content.charCodeAt(at)) || content.charCodeAt(at) === FULL_STOP) at++

  const afterTime = content.charCodeAt(at)
  if (afterTime !== SEMICOLON && afterTime !== COMMA && !isSpace(afterTime)) return undefined
  at = skipSpace(content, at)
  const separator = content.charCodeAt(at)
  if (separator === SEMICOLON || separator === COMMA) at = skipSpace(content, at + 1)

  const url = urlFrom(content, at)
  return url === '' ? undefined : url
}

/** `url=x`, `URL = 'x'`, `'x'` or bare `x`. Text that only starts like `url=` is itself the URL. */
function urlFrom(content: string, start: number): string {
  let at = start
  if ((content.charCodeAt(at) | 0x20) === 0x75) {
    if (!isWordAt(content, at, 'url')) return content.slice(start)
    at = skipSpace(content, at + 3)
    if (content.charCodeAt(at) !== EQUALS) return content.slice(start)
    at = skipSpace(content, at + 1)
  }
  const quote = content.charCodeAt(at)
  if (quote !== DOUBLE_QUOTE && quote !== SINGLE_QUOTE) return content.slice(at)
  const close = content.indexOf(content[at]!, at + 1)
  return close === -1 ? content.slice(at + 1) : content.slice(at + 1, close)
}

function skipSpace(content: string, at: number): number {
  while (isSpace(content.charCodeAt(at))) at++
  return at
}
