/**
 * Finds the end of comments and raw text, in which `<` starts no element: scripts, styles, titles. Regular expressions do
 * all the searching, because they pass over anything a page contains once, in machine code. None looks beyond the end
 * that it finds, so a page with many such stretches is not read many times.
 */

import { GREATER_THAN, SLASH } from './characters.js'
import { MOST_TAGS } from './tag-names.js'

const HYPHEN = 0x2d
const TAG_ENDS = '(?=[\\t\\n\\f\\r />])'
const IN_SCRIPT = new RegExp(`</script${TAG_ENDS}|<!--`, 'gi')
const IN_ESCAPED_SCRIPT = new RegExp(`</?script${TAG_ENDS}|-->`, 'gi')
const IN_COMMENT = /--!?>/g

/** By element name. */
const endTags = new Map<string, RegExp>()

/**
 * End of the raw text that starts at `from`: the `<` of its end tag, or -1 if the page ends first. `name` is in lower
 * case.
 */
export function endOfRawText(html: string, from: number, name: string): number {
  let endTag = endTags.get(name)
  if (endTag === undefined) {
    endTag = new RegExp(`</${name}${TAG_ENDS}`, 'gi')
    endTags.set(name, endTag)
  }
  const end = endOfMatch(endTag, html, from)
  return end === -1 ? -1 : end - '</'.length - name.length
}

/**
 * The same for a script, where `<script` after `<!--` hides the next `</script>` ("script data double escaped state"), as
 * it did in browsers that took the comment for a comment.
 */
export function endOfScript(html: string, from: number): number {
  let escaped = false
  let nested = false
  let end = from
  for (let left = MOST_TAGS; left > 0; left--) {
    end = endOfMatch(escaped ? IN_ESCAPED_SCRIPT : IN_SCRIPT, html, end)
    if (end === -1) return -1
    const last = html.charCodeAt(end - 1)
    if (last === HYPHEN) {
      escaped = true
      // The hyphens of `<!--` count for `-->`.
      end -= 2
    } else if (last === GREATER_THAN) {
      escaped = nested = false
    } else {
      const isEndTag = html.charCodeAt(end - '/script'.length) === SLASH
      if (isEndTag && !nested) return end - '</script'.length
      nested = !isEndTag
    }
  }
  return -1
}

/** The position after the comment whose `<!--` is at `at`, or -1 if the page ends first. */
export function endOfComment(html: string, at: number): number {
  const text = at + '<!--'.length
  // `<!-->` and `<!--->` are whole comments: the opening hyphens count for `-->`, though not for `--!>`.
  if (html.startsWith('>', text)) return text + 1
  if (html.startsWith('->', text)) return text + 2
  return endOfMatch(IN_COMMENT, html, text)
}

/** Like `exec`, but creates no match object. */
function endOfMatch(pattern: RegExp, html: string, from: number): number {
  pattern.lastIndex = from
  return pattern.test(html) ? pattern.lastIndex : -1
}
