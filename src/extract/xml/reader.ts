/**
 * An XML tokenizer for XHTML pages. It checks what decides where elements start and end: matching tags, quoted values,
 * known references. Browsers reject a document that fails these checks; Kumo then reads it as HTML. Errors that change no
 * element (two hyphens in a comment) are ignored.
 *
 * Positions only move forward: the time is linear in the length of the page, whatever it contains.
 */

import { isLetter } from '../html/characters.js'
import { namedReferences } from '../html/entity-names.js'
import { MOST_TAGS } from '../html/tag-names.js'

/** The kind of token that `next` found. */
export type XmlKind = 'start' | 'end' | 'text' | 'cdata' | 'other'

const NAME = /[^\t\n\r />"'<=]+/y
const ATTRIBUTE = /[\t\n\r ]+([^\t\n\r =/>"'<]+)[\t\n\r ]*=[\t\n\r ]*(?:"([^"<]*)"|'([^'<]*)')/y
const TAG_END = /[\t\n\r ]*(\/?)>/y
const ENTITY = /<!ENTITY[\t\n\r ]+([A-Za-z_:][\w.:-]*)[\t\n\r ]+(?:"([^"]*)"|'([^']*)')[\t\n\r ]*>/g
const REFERENCE = /&(?:#(\d{1,7});|#x([\dA-Fa-f]{1,6});|([A-Za-z_:][\w.:-]*);)?/g
/** An ampersand that starts no reference. Whether a name is known is checked only where it matters. */
const NO_REFERENCE = /&(?!(?:#\d{1,7}|#x[\dA-Fa-f]{1,6}|[A-Za-z_:][\w.:-]*);)/
const BLANK = /^[\t\n\r ]*$/
const UNDERSCORE = 0x5f
const FIRST_BEYOND_ASCII = 0x80

const OWN_ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
/** A longer value is not a URL that a server would accept, nor a name, nor a robots directive. */
export const LONGEST_VALUE = 2 ** 16
/** Per tag. With more it is not a page, and reading it as HTML takes less time. */
const MOST_ATTRIBUTES = 1000
/** Per document. DTDs written in good faith declare a few dozen. */
const MOST_ENTITIES = 1000
/** Total size of expanded entities, in characters. */
const MOST_EXPANDED = 2 ** 20

/** Reads a document from its start; each `next` replaces the previous token. */
export class XmlReader {
  kind: XmlKind = 'other'
  /** Position of the token, including its markup. */
  start = 0
  end = 0
  /** Name of a tag, with its prefix. */
  name = ''
  /** Attributes of a start tag: values by name, as written. */
  attributes: ReadonlyMap<string, string> = NO_ATTRIBUTES
  /** Whether a start tag is self-closing. No end tag is reported for it. */
  isEmpty = false
  /** Once `next` has returned false: whether the text read is well-formed. */
  isWellFormed = true
  /** Start tags, attributes, comments and the like that may still be read; the rest of the page is ignored. */
  #left = MOST_TAGS

  readonly #open: string[] = []
  readonly #entities = new Map<string, string>()
  #expanded = 0
  #hasRoot = false

  constructor(readonly xml: string) {
    // A byte order mark left by the decoder.
    if (xml.charCodeAt(0) === 0xfeff) this.end = 1
  }

  /** False at the end, or where the document is not well-formed. */
  next(): boolean {
    const { xml } = this
    this.start = this.end
    if (this.#left <= 0) return false
    if (this.start === xml.length) return this.#finish(this.#hasRoot && this.#open.length === 0)
    if (xml[this.start] !== '<') return this.#text()
    const next = xml.charCodeAt(this.start + 1)
    if (xml[this.start + 1] === '/') return this.#endTag()
    if (xml[this.start + 1] === '?') return this.#upTo('?>', 'other')
    if (xml[this.start + 1] === '!') return this.#declaration()
    const isName = isLetter(next) || next === UNDERSCORE || next >= FIRST_BEYOND_ASCII
    return isName ? this.#startTag() : this.#finish(false)
  }

  /** The value of an attribute; empty if it is too long. White space becomes a space unless it is written as a reference. */
  valueOf(attribute: string): string | undefined {
    const written = this.attributes.get(attribute)
    if (written === undefined || !NEEDS_DECODING.test(written)) return written
    if (written.length > LONGEST_VALUE) return ''
    const value = this.decode(written.replace(/\r\n|[\t\n\r]/g, ' '))
    this.isWellFormed &&= value !== undefined
    return value
  }

  /** Text with its references expanded; undefined if one is unknown. */
  decode(text: string): string | undefined {
    if (!text.includes('&')) return text
    let isSound = true
    const decoded = text.replace(
      REFERENCE,
      (written: string, decimal?: string, hexadecimal?: string, name?: string) => {
        const character =
          name === undefined
            ? characterFromCode(decimal, hexadecimal)
            : (OWN_ENTITIES[name] ?? this.#expandEntity(name))
        isSound &&= character !== undefined
        return character ?? written
      },
    )
    return isSound ? decoded : undefined
  }

  /** Browsers know HTML's names in documents with an XHTML DTD; here they are known in all documents. */
  #expandEntity(name: string): string | undefined {
    const own = this.#entities.get(name)
    if (own === undefined) return namedReferences().byName.get(name)
    this.#expanded += own.length
    return this.#expanded > MOST_EXPANDED ? undefined : own
  }

  #text(): boolean {
    const { xml, start } = this
    const next = xml.indexOf('<', start)
    this.end = next === -1 ? xml.length : next
    this.kind = 'text'
    const text = xml.slice(start, this.end)
    const isSound = this.#open.length > 0 ? !NO_REFERENCE.test(text) : BLANK.test(text)
    return isSound || this.#finish(false)
  }

  #startTag(): boolean {
    const { xml, start } = this
    this.name = matchAt(NAME, xml, start + 1)![0]
    const attributes = new Map<string, string>()
    let at = NAME.lastIndex
    for (let found = matchAt(ATTRIBUTE, xml, at); found !== null; found = matchAt(ATTRIBUTE, xml, at)) {
      const [, name = '', double, single] = found
      const value = double ?? single ?? ''
      if (attributes.has(name) || NO_REFERENCE.test(value)) return this.#finish(false)
      if (attributes.size === MOST_ATTRIBUTES) return this.#finish(false)
      attributes.set(name, value)
      at = ATTRIBUTE.lastIndex
    }
    const close = matchAt(TAG_END, xml, at)
    if (close === null || (this.#open.length === 0 && this.#hasRoot)) return this.#finish(false)
    this.#hasRoot = true
    this.#left -= 1 + attributes.size
    this.kind = 'start'
    this.end = TAG_END.lastIndex
    this.isEmpty = close[1] === '/'
    this.attributes = attributes
    if (!this.isEmpty) this.#open.push(this.name)
    return true
  }

  #endTag(): boolean {
    const { xml, start } = this
    const name = this.#open.pop()
    if (name === undefined || !xml.startsWith(name, start + 2)) return this.#finish(false)
    const close = matchAt(TAG_END, xml, start + 2 + name.length)
    if (close === null || close[1] === '/') return this.#finish(false)
    this.kind = 'end'
    this.name = name
    this.end = TAG_END.lastIndex
    return true
  }

  #declaration(): boolean {
    const { xml, start } = this
    if (xml.startsWith('<!--', start)) return this.#upTo('-->', 'other', '<!--'.length)
    if (xml.startsWith('<![CDATA[', start) && this.#open.length > 0) return this.#upTo(']]>', 'cdata')
    return xml.startsWith('<!DOCTYPE', start) && !this.#hasRoot ? this.#doctype() : this.#finish(false)
  }

  /** Its declarations are in brackets, which may contain quotes and comments with brackets. */
  #doctype(): boolean {
    const { xml, start } = this
    let subset = -1
    for (let at = start + 2; at < xml.length; at++) {
      const character = xml[at]!
      if (character === '"' || character === "'") {
        at = xml.indexOf(character, at + 1)
      } else if (xml.startsWith('<!--', at)) {
        at = xml.indexOf('-->', at)
      } else if (character === '[' && subset === -1) {
        subset = at
      } else if (character === ']') {
        this.#declare(xml.slice(subset, at))
        subset = -1
      } else if (character === '>' && subset === -1) {
        this.kind = 'other'
        this.end = at + 1
        return true
      }
      if (at === -1) break
    }
    return this.#finish(false)
  }

  /** Entities of the document. One that contains markup expands to nothing; one that grows too large is unknown. */
  #declare(subset: string): void {
    for (const [, name = '', double, single] of subset.matchAll(ENTITY)) {
      if (this.#entities.size === MOST_ENTITIES) return
      const value = double ?? single ?? ''
      const text = value.length > LONGEST_VALUE ? undefined : this.decode(value)
      if (text === undefined || this.#entities.has(name)) continue
      this.#entities.set(name, value.includes('<') ? '' : text)
    }
  }

  #upTo(mark: string, kind: XmlKind, from = 2): boolean {
    const end = this.xml.indexOf(mark, this.start + from)
    if (end === -1) return this.#finish(false)
    this.#left--
    this.kind = kind
    this.end = end + mark.length
    return true
  }

  #finish(isWellFormed: boolean): false {
    this.isWellFormed &&= isWellFormed
    return false
  }
}

const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map()
const NEEDS_DECODING = /[&\t\n\r]/

function matchAt(pattern: RegExp, xml: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(xml)
}

/** Undefined for a number that is not a character in XML. */
function characterFromCode(decimal: string | undefined, hexadecimal: string | undefined): string | undefined {
  if (decimal === undefined && hexadecimal === undefined) return undefined
  const code = decimal === undefined ? Number.parseInt(hexadecimal!, 16) : Number(decimal)
  const isCharacter =
    code === 9 ||
    code === 10 ||
    code === 13 ||
    (code >= 0x20 && code < 0xd800) ||
    (code >= 0xe000 && code <= 0x10ffff && code !== 0xfffe && code !== 0xffff)
  return isCharacter ? String.fromCodePoint(code) : undefined
}
