/** The text of a link: what a reader clicks on. */

import { decodeAttribute } from './entities.js'
import { readableText } from './text.js'

/** Code units to read of a link's content and of its tag. Longer links exist where an end tag is missing. */
export const LONGEST_TEXT = 2048
const END_TAG = /<\/a[\s>]/i
/** Tags that leave no trace in a text: most links with markup have only these. */
const INLINE_TAGS =
  /<\/?(?:b|cite|code|em|font|i|kbd|mark|samp|small|span|strong|sub|sup|tt|u|var)(?:\s[^<>"']*(?:"[^"<>]*"[^<>"']*)*)?>/gi
const ALT_OF_IMAGE =
  /<(?:img|svg|area)\b[^>]*?\s(?:alt|aria-label)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i
const HAS_LABEL = /alt|label|title/i
const ALT = attribute('alt')
const LABEL = attribute('aria-label')
const TITLE = attribute('title')

function attribute(name: string): RegExp {
  return new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i')
}

/**
 * The text of an `<a>` whose tag has its attributes from `nameEnd` to `tagEnd`; failing that, the alternative text of an
 * image in it, or the label or title of the link. `end` is where the next link begins, or the end of the page.
 */
export function anchorText(html: string, nameEnd: number, tagEnd: number, end: number): string {
  const first = html.indexOf('<', tagEnd)
  // Most links are plain text.
  if (first > tagEnd && first <= end && first - tagEnd <= LONGEST_TEXT && html.startsWith('</a>', first)) {
    const plain = html.slice(tagEnd, first)
    if (!plain.includes('&') && /\S/.test(plain)) return collapsed(plain)
  }
  let content = html.slice(tagEnd, Math.min(end, tagEnd + LONGEST_TEXT))
  const close = content.search(END_TAG)
  if (close !== -1) content = content.slice(0, close)
  if (content === '' || content === '<a') return labelText(html, nameEnd, tagEnd)
  const bare = content.includes('<') ? content.replace(INLINE_TAGS, '') : content
  const text = bare.includes('<') || bare.includes('&') ? readableText(content) : bare
  return collapsed(text) || found(ALT_OF_IMAGE, content) || labelText(html, nameEnd, tagEnd)
}

/** The text of another element with a link: its alternative text, label or title. */
export function labelText(html: string, nameEnd: number, tagEnd: number): string {
  const tag = html.slice(nameEnd, Math.min(tagEnd, nameEnd + LONGEST_TEXT))
  if (!HAS_LABEL.test(tag)) return ''
  return found(ALT, tag) || found(LABEL, tag) || found(TITLE, tag)
}

function found(pattern: RegExp, text: string): string {
  const match = pattern.exec(text)
  return match === null ? '' : collapsed(decodeAttribute(match[1] ?? match[2] ?? match[3]!))
}

const NEEDS_COLLAPSING = /^\s|\s\s|[^\S ]|\s$/

function collapsed(text: string): string {
  return NEEDS_COLLAPSING.test(text) ? text.replace(/\s+/g, ' ').trim() : text
}
