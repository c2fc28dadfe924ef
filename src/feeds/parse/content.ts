/** The content of one element: its text, or its markup if it contains elements. */

import { BANG, GREATER_THAN, isLetter, QUESTION_MARK, SLASH } from '../../extract/html/characters.js'
import { owned } from '../../owned.js'
import type { Cursor } from './cursor.js'
import { MEANINGS } from './vocabulary.js'

const CDATA = '<![CDATA['
const CDATA_END = ']]>'
/** No element of these names is inside a text, except inside Atom's content, which may hold anything. */
const ENTRIES: ReadonlySet<string> = new Set(['item', 'entry'])
const CONTAINERS: ReadonlySet<string> = new Set(['item', 'entry', 'channel', 'rss', 'feed', 'rdf'])
const ANYTHING: ReadonlySet<string> = new Set(['content'])

/** What an element contains. */
export interface Content {
  /** Decoded if it is text, as written if it is markup. */
  readonly text: string
  readonly isMarkup: boolean
  /** The feed ends within the element. */
  readonly isCut: boolean
}

const NOTHING: Content = { text: '', isMarkup: false, isCut: false }

/** Reads elements, one after the other. */
export class ContentReader {
  constructor(readonly cursor: Cursor) {}

  /**
   * Reads up to the end tag of the element whose start tag is at the cursor. `plain`: it contains no elements, so the next
   * one ends it. If the end tag is missing, it ends where the next field or the next entry starts.
   */
  read(plain: boolean): Content {
    const { cursor } = this
    if (cursor.empty) return NOTHING
    const { text, name } = cursor
    const from = cursor.at
    const patient = !plain && cursor.isPatient
    let decoded = ''
    let copied = from
    let nested = 0
    let firstField = -1
    let isMarkup = false
    for (;;) {
      const start = text.indexOf('<', cursor.at)
      if (start === -1) {
        cursor.at = text.length
        return this.#result(from, text.length, decoded, copied, isMarkup, true)
      }
      const code = text.charCodeAt(start + 1)
      if (code === SLASH && nested === 0 && this.#isEnd(start, name)) {
        cursor.at = start + name.length + 3
        return this.#result(from, start, decoded, copied, isMarkup, false)
      }
      if (code === BANG && text.startsWith(CDATA, start)) {
        const end = this.#cdataEnd(start, name)
        decoded += cursor.references.decode(text.slice(copied, start)) + text.slice(start + CDATA.length, end)
        copied = text.startsWith(CDATA_END, end) ? end + CDATA_END.length : end
        cursor.at = copied
        continue
      }
      if (code === BANG || code === QUESTION_MARK) {
        decoded += cursor.references.decode(text.slice(copied, start))
        copied = cursor.skipOther(start)
        cursor.at = copied
        continue
      }
      if (code !== SLASH && !isLetter(code)) {
        cursor.at = start + 1
        continue
      }
      cursor.at = start
      if (!cursor.next()) return this.#result(from, start, decoded, copied, isMarkup, true)
      const inner = cursor.name
      const same =
        inner.length === name.length && (inner === name || inner.toLowerCase() === name.toLowerCase())
      const local = localName(inner)
      if (cursor.closes) {
        if (same && nested-- === 0) return this.#result(from, start, decoded, copied, isMarkup, false)
        if (!same && CONTAINERS.has(local)) {
          return this.#unclosedAt(firstField === -1 ? start : firstField, from, decoded, copied, isMarkup)
        }
      } else {
        const isField = MEANINGS.has(local) && !inner.includes(':')
        if (ENTRIES.has(local) && !ANYTHING.has(localName(name)) && !inner.includes(':')) {
          return this.#unclosedAt(firstField === -1 ? start : firstField, from, decoded, copied, isMarkup)
        }
        if (isField && !patient) return this.#unclosedAt(start, from, decoded, copied, isMarkup)
        if (isField && firstField === -1) firstField = start
        if (same && !cursor.empty) nested++
      }
      isMarkup = true
    }
  }

  /** The element ends at `end` without a tag; what follows is read again. */
  #unclosedAt(end: number, from: number, decoded: string, copied: number, isMarkup: boolean): Content {
    this.cursor.goBack(end)
    const { text } = this.cursor
    // Elements before the end are part of the text; the end itself may have been the first.
    const still = isMarkup && /<[a-z/]/i.test(text.slice(from, end))
    return this.#result(from, end, decoded, Math.min(copied, end), still, false)
  }

  #isEnd(start: number, name: string): boolean {
    const { text } = this.cursor
    return text.startsWith(name, start + 2) && text.charCodeAt(start + 2 + name.length) === GREATER_THAN
  }

  /** CDATA without an end ends with its element. It has none if another one starts before the next end. */
  #cdataEnd(start: number, name: string): number {
    const { cursor } = this
    const { text } = cursor
    const end = cursor.cdataEnd(start)
    const close = `</${name}`
    if (end === text.length) {
      const closed = text.indexOf(close, start)
      return closed === -1 ? end : closed
    }
    const inside = text.slice(start + CDATA.length, end)
    if (!inside.includes(CDATA)) return end
    const closed = inside.indexOf(close)
    return closed === -1 ? end : start + CDATA.length + closed
  }

  #result(
    from: number,
    end: number,
    decoded: string,
    copied: number,
    isMarkup: boolean,
    isCut: boolean,
  ): Content {
    const { text, references } = this.cursor
    if (isMarkup) return { text: owned(unwrapped(text.slice(from, end)).trim()), isMarkup, isCut }
    const rest = references.decode(text.slice(copied, end))
    return { text: owned((decoded === '' ? rest : decoded + rest).trim()), isMarkup, isCut }
  }
}

/** Markup without comments and with the text of its CDATA sections. */
function unwrapped(markup: string): string {
  if (!markup.includes('<!')) return markup
  let result = ''
  let copied = 0
  for (let at = markup.indexOf('<!'); at !== -1; at = markup.indexOf('<!', copied)) {
    const isCdata = markup.startsWith(CDATA, at)
    const mark = isCdata ? CDATA_END : markup.startsWith('<!--', at) ? '-->' : '>'
    const end = markup.indexOf(mark, at)
    if (end === -1) break
    result += markup.slice(copied, at)
    if (isCdata) result += markup.slice(at + CDATA.length, end)
    copied = end + mark.length
  }
  return result + markup.slice(copied)
}

/** The name without its prefix, in lower case. */
export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1).toLowerCase()
}
