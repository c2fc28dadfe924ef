/**
 * A streaming XML tokenizer for sitemaps. It has no DTD support, expands nothing, keeps no stack of open elements and
 * tolerates what it can; docs/decisions/0013 says why it is not a package. It reads every character once, and those of a
 * tag that is split between two chunks once more.
 */

import {
  BANG,
  DOUBLE_QUOTE,
  EQUALS,
  endsTagName,
  GREATER_THAN,
  isLetter,
  isSpace,
  LESS_THAN,
  QUESTION_MARK,
  SINGLE_QUOTE,
  SLASH,
} from '../html/characters.js'

/** Receives the tokens. Names are in lower case, with their prefix. */
export interface MarkupListener {
  /** `attributes` as written, for `attributesOf`; `empty` if the element is closed already. */
  open(name: string, attributes: string, empty: boolean): void
  close(name: string): void
  /** A piece of text; `verbatim` if it is CDATA and contains no references. */
  text(text: string, verbatim: boolean): void
  /** The document declares entities, which are not expanded. */
  declaresEntities(): void
}

/** A root element with all known namespaces has 2,000 characters; of a longer tag only the name is read. */
const LONGEST_TAG = 16_384

const COMMENT = '<!--'
const CDATA = '<![CDATA['
const ENTITY = '<!ENTITY'
const COMMENT_END = '-->'
const CDATA_END = ']]>'
const UNDERSCORE = 0x5f
const FIRST_BEYOND_ASCII = 0x80

/**
 * `skipped` are declarations, processing instructions and tags that are too long. They end like a tag: a DOCTYPE ends where
 * the first of its declarations starts, and the rest of it is text that is ignored.
 */
type Inside = 'content' | 'comment' | 'cdata' | 'skipped'

export class Markup {
  readonly #listener: MarkupListener
  #inside: Inside = 'content'
  /** The unfinished end of the last chunk: shorter than `LONGEST_TAG`. */
  #rest = ''

  constructor(listener: MarkupListener) {
    this.#listener = listener
  }

  push(piece: string): void {
    const text = this.#rest === '' ? piece : this.#rest + piece
    this.#rest = ''
    let at = 0
    while (at < text.length) {
      if (this.#inside === 'content') at = this.#readContent(text, at)
      else if (this.#inside === 'comment') at = this.#readUntil(COMMENT_END, text, at)
      else if (this.#inside === 'cdata') at = this.#readUntil(CDATA_END, text, at)
      else at = this.#skip(text, at)
    }
  }

  /** Whether the text ends in an incomplete end tag, which still shows that its element was complete. */
  get endsInEndTag(): boolean {
    return this.#inside === 'content' && this.#rest.startsWith('</')
  }

  #readContent(text: string, from: number): number {
    const start = text.indexOf('<', from)
    const end = start === -1 ? text.length : start
    if (end > from) this.#listener.text(text.slice(from, end), false)
    return start === -1 ? end : this.#readMarkup(text, start)
  }

  #readMarkup(text: string, start: number): number {
    if (start + 1 === text.length) return this.#keep(text, start)
    const next = text.charCodeAt(start + 1)
    if (next === BANG) return this.#readDeclaration(text, start)
    if (next === QUESTION_MARK) return this.#enter('skipped', start + 2)
    if (next !== SLASH && !startsName(next)) {
      this.#listener.text('<', false)
      return start + 1
    }
    const end = endOfTag(text, start + 1)
    if (end !== -1) {
      this.#tag(text, start, end)
      return text.charCodeAt(end) === GREATER_THAN ? end + 1 : end
    }
    if (text.length - start < LONGEST_TAG) return this.#keep(text, start)
    this.#tag(text, start, endOfName(text, start + 2))
    return this.#enter('skipped', text.length)
  }

  #readDeclaration(text: string, start: number): number {
    if (text.startsWith(COMMENT, start)) return this.#enter('comment', start + COMMENT.length)
    if (text.startsWith(CDATA, start)) return this.#enter('cdata', start + CDATA.length)
    const begun = text.slice(start, start + CDATA.length)
    if ([COMMENT, CDATA, ENTITY].some((whole) => begun.length < whole.length && whole.startsWith(begun))) {
      return this.#keep(text, start)
    }
    if (text.startsWith(ENTITY, start)) this.#listener.declaresEntities()
    return this.#enter('skipped', start + 2)
  }

  #readUntil(mark: string, text: string, from: number): number {
    const found = text.indexOf(mark, from)
    // A possible start of the mark is read again with the next chunk.
    const end = found === -1 ? Math.max(from, text.length - mark.length + 1) : found
    if (this.#inside === 'cdata' && end > from) this.#listener.text(text.slice(from, end), true)
    return found === -1 ? this.#keep(text, end) : this.#enter('content', found + mark.length)
  }

  #skip(text: string, from: number): number {
    let at = from
    while (at < text.length && !endsTag(text.charCodeAt(at))) at++
    if (at === text.length) return at
    return this.#enter('content', text.charCodeAt(at) === GREATER_THAN ? at + 1 : at)
  }

  #enter(inside: Inside, at: number): number {
    this.#inside = inside
    return at
  }

  #keep(text: string, from: number): number {
    this.#rest = text.slice(from)
    return text.length
  }

  /** Reports the tag from `<` at `start` to `end`. */
  #tag(text: string, start: number, end: number): void {
    const closes = text.charCodeAt(start + 1) === SLASH
    const nameStart = start + (closes ? 2 : 1)
    const nameEnd = Math.min(endOfName(text, nameStart), end)
    const name = text.slice(nameStart, nameEnd).toLowerCase()
    const empty = end > nameEnd && text.charCodeAt(end - 1) === SLASH
    if (closes) this.#listener.close(name)
    else this.#listener.open(name, text.slice(nameEnd, empty ? end - 1 : end), empty)
  }
}

/**
 * End of a tag: a `>` outside quotes, or the next `<`, which cannot be in a tag, so that a broken tag does not swallow what
 * follows.
 */
function endOfTag(text: string, from: number): number {
  let quote = 0
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === LESS_THAN || (code === GREATER_THAN && quote === 0)) return at
    if (code === quote) quote = 0
    else if (quote === 0 && (code === DOUBLE_QUOTE || code === SINGLE_QUOTE)) quote = code
  }
  return -1
}

function endOfName(text: string, from: number): number {
  let at = from
  while (at < text.length && !endsTagName(text.charCodeAt(at))) at++
  return at
}

function endsTag(code: number): boolean {
  return code === GREATER_THAN || code === LESS_THAN
}

function startsName(code: number): boolean {
  return isLetter(code) || code === UNDERSCORE || code >= FIRST_BEYOND_ASCII
}

/** Attributes by name in lower case, values as written; of repeated ones, the first. */
export function attributesOf(written: string): Map<string, string> {
  const attributes = new Map<string, string>()
  let at = 0
  while (at < written.length) {
    while (isSpace(written.charCodeAt(at))) at++
    const nameStart = at
    while (at < written.length && !endsAttributeName(written.charCodeAt(at))) at++
    const name = written.slice(nameStart, at).toLowerCase()
    while (isSpace(written.charCodeAt(at))) at++
    if (written.charCodeAt(at) !== EQUALS) {
      // A name without a value, or a stray character: continue with the next.
      if (at === nameStart) at++
      continue
    }
    at++
    while (isSpace(written.charCodeAt(at))) at++
    const quote = written[at]
    if (quote !== '"' && quote !== "'") continue
    const end = written.indexOf(quote, at + 1)
    if (end === -1) break
    if (!attributes.has(name)) attributes.set(name, written.slice(at + 1, end))
    at = end + 1
  }
  return attributes
}

function endsAttributeName(code: number): boolean {
  return code === EQUALS || isSpace(code) || code === DOUBLE_QUOTE || code === SINGLE_QUOTE
}
