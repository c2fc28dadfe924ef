/**
 * The readable text of a page, for search and for reading along: tags gone, scripts and styles gone, entities decoded,
 * white space collapsed, a line break where a block ends. One pass without a tree, because indexing asks it of
 * every page.
 */

import { BANG, endsTagName, isLetter, QUESTION_MARK, SLASH } from './characters.js'
import { codesOf } from './codes.js'
import { decodeText } from './entities.js'
import { endOfComment, endOfRawText, endOfScript } from './raw-text.js'
import { TagReader } from './tag-reader.js'

/** Elements whose content nobody reads. */
const UNREAD = new Set(['style', 'xmp', 'iframe', 'noembed', 'noframes', 'textarea', 'title', 'script'])
/** Elements that stand within a line; all others end one. */
const INLINE = new Set(
  'a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rb ruby s samp small span strike strong sub sup time tt u var wbr'.split(
    ' ',
  ),
)

/** @example readableText('<p>Fish &amp; chips</p><script>x</script><p>Tea') // 'Fish & chips\nTea' */
export function readableText(html: string): string {
  const tags = new TagReader(html, codesOf(html))
  const lines: string[] = []
  let line = ''
  const endLine = () => {
    const text = tidy(line)
    if (text !== '') lines.push(text)
    line = ''
  }
  let at = 0
  while (at >= 0 && at < html.length) {
    const open = html.indexOf('<', at)
    line += html.slice(at, open < 0 ? html.length : open)
    if (open < 0) break
    const next = html.charCodeAt(open + 1)
    const start = open + (next === SLASH ? 2 : 1)
    if (isLetter(html.charCodeAt(start))) {
      const end = nameEnd(html, start)
      const name = html.slice(start, end).toLowerCase()
      if (!INLINE.has(name)) endLine()
      at = tags.skip(end)
      if (next !== SLASH) at = afterUnread(html, name, at)
    } else if (html.startsWith('<!--', open)) {
      at = endOfComment(html, open)
    } else if (next === BANG || next === QUESTION_MARK || next === SLASH) {
      // A doctype, or what browsers take for a comment: `<?xml …>`, `</ …>`, `</3>`.
      at = html.indexOf('>', open) + 1 || -1
    } else {
      line += '<'
      at = open + 1
    }
  }
  endLine()
  return lines.join('\n')
}

function nameEnd(html: string, start: number): number {
  let end = start
  while (end < html.length && !endsTagName(html.charCodeAt(end))) end++
  return end
}

/** Past the content that is not read; -1 if it goes on to the end of the page. */
function afterUnread(html: string, name: string, after: number): number {
  if (after < 0 || !UNREAD.has(name)) return after
  return name === 'script' ? endOfScript(html, after) : endOfRawText(html, after, name)
}

function tidy(line: string): string {
  return decodeText(line).replace(/\s+/g, ' ').trim()
}
