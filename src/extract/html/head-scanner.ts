/**
 * The canonical URL that a page's head declares. The head is not what is between `<head>` and `</head>`: both tags are
 * optional, and browsers move a `link` that directly follows the head back into it. So this follows the insertion modes
 * of the HTML Standard's tree construction up to the body. It is a separate pass, which ends with the head, because few
 * crawls use the canonical URL.
 */

import { BANG, endsTagName, isLetter, LESS_THAN, QUESTION_MARK, SLASH } from './characters.js'
import { type Codes, codesOf } from './codes.js'
import { decodeText } from './entities.js'
import { END, hasToken, Scanner } from './scanner.js'
import { HREF, REL } from './tag-reader.js'

/** The href of the first `<link rel=canonical>` in the head; `isXhtml` as in `scan`. */
export function canonicalHref(
  html: string,
  codes: Codes = codesOf(html),
  isXhtml = false,
): string | undefined {
  return new HeadScanner(html, codes, undefined, { isXhtml }).find()
}

/** Limit on the tags and comments read in a head. Heads have dozens. */
const MOST_TAGS_OF_HEAD = 2 ** 15

/** The insertion mode. `before` covers all modes before the head. */
type Mode = 'before' | 'head' | 'noscript' | 'after'

const VOID_IN_HEAD = 'base basefont bgsound link meta'.split(' ')
const IN_NOSCRIPT = new Set([...VOID_IN_HEAD, 'noframes', 'style'])
const IN_HEAD = new Set([...IN_NOSCRIPT, 'script', 'template', 'title'])
/** End tags that start the body, as `</br>` does anywhere; other unmatched end tags are ignored. */
const BEGINS_BODY = new Set(['body', 'html'])
const BLANK = /^[\t\n\f\r ]*$/

class HeadScanner extends Scanner {
  private mode: Mode = 'before'
  private href: string | undefined

  find(): string | undefined {
    const { html, codes } = this
    // A `<` at the end of the page is text.
    const last = html.length - 1
    let at = 0
    for (let left = MOST_TAGS_OF_HEAD; left > 0 && at !== END && at < last; left--) {
      if (codes[at] !== LESS_THAN) {
        const next = html.indexOf('<', at)
        if (next === -1 || next === last || !this.mayStand(html.slice(at, next))) break
        at = next
      }
      at = this.markup(at)
    }
    // Discard the links found on the way: scans share their memory.
    this.links.complete()
    return this.href
  }

  private markup(at: number): number {
    const next = this.codes[at + 1]!
    if (isLetter(next)) return this.startTag(at + 1)
    if (next === SLASH) return this.endTag(at + 2)
    if (next === BANG) return this.declaration(at)
    if (next === QUESTION_MARK) return this.afterGreaterThan(at + 2)
    // Any other `<` is text.
    return this.inDocument ? END : at + 1
  }

  private mayStand(text: string): boolean {
    return !this.inDocument || BLANK.test(text) || (text.includes('&') && BLANK.test(decodeText(text)))
  }

  protected override startTag(start: number): number {
    if (!this.inDocument) return super.startTag(start)
    const end = this.endOfName(start)
    const name = this.html.slice(start, end).toLowerCase()
    if (!this.staysInHead(name)) return END
    if (name !== 'link') return super.startTag(start)
    const after = this.tag.read(end, HREF | REL)
    const { rel, hasLink, link } = this.tag
    if (after === END || !hasLink || rel === undefined || !hasToken(rel, 'canonical')) return after
    this.href = link
    return END
  }

  /** Switches to the insertion mode in which a start tag is processed; false if it starts the body. */
  private staysInHead(name: string): boolean {
    if (name === 'html') return true
    if (name === 'head') {
      if (this.mode === 'before') this.mode = 'head'
      return true
    }
    if (name === 'noscript') {
      const isInHead = this.mode !== 'after'
      if (isInHead) this.mode = 'noscript'
      return isInHead
    }
    if (this.mode === 'before') this.mode = 'head'
    if (this.mode === 'noscript' && !IN_NOSCRIPT.has(name)) this.mode = 'head'
    return IN_HEAD.has(name)
  }

  protected override endTag(start: number): number {
    if (this.inDocument) {
      const name = this.html.slice(start, this.endOfName(start)).toLowerCase()
      if (name === 'br' || (this.mode !== 'noscript' && BEGINS_BODY.has(name))) return END
      if (name === 'head' && this.mode !== 'noscript') this.mode = 'after'
      else if (name === 'noscript' && this.mode === 'noscript') this.mode = 'head'
    }
    return super.endTag(start)
  }

  private endOfName(start: number): number {
    const { codes } = this
    let end = start
    while (end < codes.length && !endsTagName(codes[end]!)) end++
    return end
  }
}
