/**
 * The encoding that a page declares in its first bytes, found before it can be decoded: the prescan algorithm of the HTML
 * Standard, and the XML declaration. It follows the standard step by step, because pages rely on its details: a declaration
 * in a comment does not count, one inside a script does.
 */

import {
  BANG,
  DOUBLE_QUOTE,
  EQUALS,
  GREATER_THAN,
  isLetter,
  isSpace,
  isWordAt,
  QUESTION_MARK,
  SINGLE_QUOTE,
  SLASH,
} from '../html/characters.js'
import { decoderFor } from './decoders.js'

/** Read beyond the end of the bytes. */
const NOTHING = Number.NaN

/**
 * The encoding that a `<meta>` element declares, by its name in the Encoding Standard. `text` is the start of the page with
 * one character per byte; a declaration that is cut off does not count.
 */
export function metaEncoding(text: string): string | undefined {
  if (USUAL_BEGINNING.test(text)) return 'utf-8'
  // A quick check: without this word there is no declaration.
  return /charset/i.test(text) ? new Prescan(text).run() : undefined
}

/** How most pages start. The algorithm would give the same result in five times the time. */
const USUAL_BEGINNING =
  /^<!doctype html>\s*<html(?:[\t\n\f\r ]+[a-z:-]+="[^"]*")*>\s*<head>\s*<meta charset=(?:"utf-8"[\t\n\f\r ]*\/?|utf-8)>/i

/** The encoding that an XML declaration names. `text` as for `metaEncoding`. */
export function xmlEncoding(text: string): string | undefined {
  if (!text.startsWith('<?xml')) return undefined
  const end = text.indexOf('>')
  const name = text.indexOf('encoding')
  if (end === -1 || name === -1 || name > end) return undefined
  const [, , label] = XML_LABEL.exec(text.slice(name + 'encoding'.length, end)) ?? []
  return label === undefined ? undefined : readable(label)
}

const XML_LABEL = /^[\0-\x20]*=[\0-\x20]*(["'])([^\0-\x20"']+)\1/

/** A declaration that is readable as ASCII cannot be in UTF-16, so such a label means UTF-8. */
function readable(label: string): string | undefined {
  const encoding = decoderFor(label)?.encoding
  return encoding === 'utf-16le' || encoding === 'utf-16be' ? 'utf-8' : encoding
}

class Prescan {
  private at = 0
  /** The last attribute, in lower case. */
  private name = ''
  private value = ''

  constructor(private readonly text: string) {}

  run(): string | undefined {
    const { text } = this
    for (let open = text.indexOf('<'); open !== -1; open = text.indexOf('<', this.at)) {
      const next = this.codeAt(open + 1)
      if (text.startsWith('!--', open + 1)) {
        // The two hyphens of `<!--` may be those of `-->`.
        const close = text.indexOf('-->', open + 2)
        if (close === -1) return undefined
        this.at = close + 2
      } else if (this.isMeta(open)) {
        this.at = open + '<meta'.length
        const encoding = this.meta()
        if (encoding !== undefined) return encoding
      } else if (isLetter(next) || (next === SLASH && isLetter(this.codeAt(open + 2)))) {
        this.at = open + 2
        while (this.at < text.length && !this.isSpaceHere() && this.here() !== GREATER_THAN) this.at++
        while (this.attribute(false));
      } else if (next === BANG || next === SLASH || next === QUESTION_MARK) {
        const close = text.indexOf('>', open + 2)
        if (close === -1) return undefined
        this.at = close
      } else {
        this.at = open
      }
      this.at++
    }
    return undefined
  }

  private isMeta(open: number): boolean {
    const after = this.codeAt(open + '<meta'.length)
    return (isSpace(after) || after === SLASH) && isWordAt(this.text, open + 1, 'meta')
  }

  private meta(): string | undefined {
    let pragma: string | undefined
    let content: string | undefined
    let label: string | undefined
    let ofContent = false
    // Of repeated attributes, the first counts.
    while (this.attribute(true)) {
      const { name, value } = this
      if (name === 'http-equiv') {
        pragma ??= value
      } else if (name === 'charset') {
        if (label === undefined || ofContent) label = value
        ofContent = false
      } else if (name === 'content' && content === undefined) {
        content = value
        if (label !== undefined) continue
        label = labelInContent(value)
        ofContent = label !== undefined
      }
    }
    // A tag that is cut off declares nothing.
    if (this.at >= this.text.length || label === undefined) return undefined
    if (ofContent && pragma !== 'content-type') return undefined
    return label.trim() === 'x-user-defined' ? 'windows-1252' : readable(label)
  }

  /** Gets an attribute, or skips it; false if the tag or the text ends first. */
  private attribute(keeps: boolean): boolean {
    const { text } = this
    while (this.isSpaceHere() || this.here() === SLASH) this.at++
    if (this.at >= text.length || this.here() === GREATER_THAN) return false

    const start = this.at
    while (this.at < text.length) {
      if (this.isSpaceHere() || this.here() === SLASH || this.here() === GREATER_THAN) break
      if (this.here() === EQUALS && this.at > start) break
      this.at++
    }
    if (keeps) this.name = text.slice(start, this.at).toLowerCase()
    this.value = ''
    this.skipSpace()
    if (this.here() !== EQUALS) return this.at < text.length

    this.at++
    this.skipSpace()
    const quote = this.here()
    if (quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE) {
      const close = text.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", this.at + 1)
      if (keeps) this.value = text.slice(this.at + 1, close === -1 ? text.length : close).toLowerCase()
      this.at = close === -1 ? text.length : close + 1
    } else {
      const from = this.at
      while (this.at < text.length && !this.isSpaceHere() && this.here() !== GREATER_THAN) this.at++
      if (keeps) this.value = text.slice(from, this.at).toLowerCase()
    }
    return this.at < text.length
  }

  private skipSpace(): void {
    while (this.isSpaceHere()) this.at++
  }

  private here(): number {
    return this.codeAt(this.at)
  }

  private isSpaceHere(): boolean {
    return isSpace(this.here())
  }

  private codeAt(at: number): number {
    return at < this.text.length ? this.text.charCodeAt(at) : NOTHING
  }
}

/** `text/html; charset=koi8-r` → `koi8-r`. `content` is in lower case. */
function labelInContent(content: string): string | undefined {
  const found = /charset[\t\n\f\r ]*=[\t\n\f\r ]*/.exec(content)
  if (found === null) return undefined
  const rest = content.slice(found.index + found[0].length)
  // An unclosed quote declares nothing.
  const quoted = /^(["'])(.*?)\1/s.exec(rest)?.[2]
  const label = /^["']/.test(rest) ? quoted : /^[^\t\n\f\r ;]*/.exec(rest)![0]
  return label !== undefined && isLabel(label) ? label : undefined
}

function isLabel(label: string): boolean {
  return label.trim() === 'x-user-defined' || decoderFor(label) !== undefined
}
