/** Reads the name and the attributes of a tag, by the rules of the HTML tokenizer. */

import {
  DOUBLE_QUOTE,
  EQUALS,
  endsTagName,
  GREATER_THAN,
  isSpace,
  SINGLE_QUOTE,
  SLASH,
} from '../html/characters.js'
import type { Codes } from '../html/codes.js'
import { decodeAttribute, normalizeInput } from '../html/entities.js'
import { extendKey, keyOf } from '../html/name-keys.js'
import type { ReferenceBudget } from './reference-budget.js'
import type { Attributes } from './tree.js'

/** Names that need no string of their own, by key. */
const NAMES = new Map(
  (
    'a abbr address area article aside audio b blockquote body br button caption center cite code col colgroup dd del ' +
    'details dfn div dl dt em embed fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hgroup hr ' +
    'html i iframe img input ins kbd label legend li link main mark menu meta nav noscript object ol optgroup option p ' +
    'path picture pre q s samp script section select small source span strike strong style sub summary sup svg table ' +
    'tbody td template textarea tfoot th thead time title tr tt u ul use var video wbr ' +
    'id class href src alt rel role lang dir width height name content property type target data-src srcset sizes ' +
    'itemprop itemscope itemtype datetime colspan rowspan align valign value action aria-hidden aria-label hidden ' +
    'onclick loading data-id data-lang start checked'
  )
    .split(' ')
    .map((name) => [keyOf(name), name] as const),
)

/** Longer values are data, such as embedded images; they are cut to nothing. */
const LONGEST_VALUE = 2 ** 16
const MOST_ATTRIBUTES = 200
const NO_ATTRIBUTES: Attributes = Object.freeze([])

/** Each `read` replaces what the previous one found. */
export class TagScanner {
  /** In lower case. */
  name = ''
  attributes: Attributes = NO_ATTRIBUTES
  /** Whether the tag ends in `/>`. */
  selfClosing = false
  readonly #needsNormalizing: boolean

  constructor(
    readonly html: string,
    readonly codes: Codes,
    readonly references: ReferenceBudget,
  ) {
    this.#needsNormalizing = html.includes('\r') || html.includes('\0')
  }

  /** Reads the tag whose name starts at `start`. Returns the position after its `>`, or -1 if the page ends first. */
  read(start: number): number {
    const { codes } = this
    let end = start
    let key = 0
    for (; end < codes.length && !endsTagName(codes[end]!); end++) key = extendKey(key, codes[end]!)
    this.name = NAMES.get(key) ?? this.html.slice(start, end).toLowerCase()
    this.attributes = NO_ATTRIBUTES
    this.selfClosing = false
    if (codes[end] === GREATER_THAN) return end + 1
    return this.#readAttributes(end)
  }

  #readAttributes(from: number): number {
    const { codes } = this
    const { length } = codes
    let attributes: string[] | undefined
    let at = from
    while (at < length) {
      const code = codes[at]!
      if (code === GREATER_THAN) {
        if (attributes !== undefined) this.attributes = attributes
        return at + 1
      }
      if (code === SLASH) {
        this.selfClosing = codes[at + 1] === GREATER_THAN
        at++
        continue
      }
      if (isSpace(code)) {
        at++
        continue
      }
      const nameStart = at
      let key = extendKey(0, code)
      for (at++; at < length && !endsAttributeName(codes[at]!); at++) key = extendKey(key, codes[at]!)
      const nameEnd = at
      at = this.#afterSpace(at)
      let valueStart = at
      let valueEnd = at
      if (codes[at] === EQUALS) {
        valueStart = this.#afterSpace(at + 1)
        const quote = codes[valueStart]
        if (quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE) {
          valueStart++
          valueEnd = this.html.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", valueStart)
          if (valueEnd === -1) return -1
          at = valueEnd + 1
        } else {
          valueEnd = valueStart
          while (valueEnd < length && codes[valueEnd] !== GREATER_THAN && !isSpace(codes[valueEnd]!))
            valueEnd++
          at = valueEnd
        }
      }
      attributes ??= []
      if (attributes.length >= 2 * MOST_ATTRIBUTES) continue
      const name = NAMES.get(key) ?? this.html.slice(nameStart, nameEnd).toLowerCase()
      attributes.push(name, this.#value(valueStart, valueEnd))
    }
    return -1
  }

  #value(start: number, end: number): string {
    if (end === start || end - start > LONGEST_VALUE) return ''
    let value = this.html.slice(start, end)
    if (this.#needsNormalizing) value = normalizeInput(value)
    return this.references.allows(value) ? decodeAttribute(value) : value
  }

  #afterSpace(at: number): number {
    const { codes } = this
    while (at < codes.length && isSpace(codes[at]!)) at++
    return at
  }
}

function endsAttributeName(code: number): boolean {
  return code <= GREATER_THAN && (code >= EQUALS || code === SLASH || isSpace(code))
}
