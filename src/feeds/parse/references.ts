/**
 * Character and entity references in feeds. The five of XML, those of HTML, which feeds use without declaring them, and
 * those that the feed declares itself, which are expanded within limits. Only with a semicolon: without one it is an
 * ampersand that should have been escaped, usually in a URL.
 */

import { codePointOf, endOfNumber } from '../../extract/html/entities.js'
import { namedReferences } from '../../extract/html/entity-names.js'

const LONGEST_NAME = 64
const MOST_DECLARED = 1000
const LONGEST_DECLARED = 10_000
/** Characters that the entities of a feed may become in all. Real ones are single characters. */
const MOST_EXPANDED = 1_000_000
const DEEPEST = 8
const DECLARATION = /<!ENTITY\s+([\w.:-]{1,64})\s+(?:"([^"]*)"|'([^']*)')\s*>/g
const SEMICOLON = 0x3b
const HASH = 0x23

export class References {
  /** True once entities were left as written because they would expand too far. */
  exceeded = false
  #declared: Map<string, string> | undefined
  #expanded = 0

  /** Reads the declarations in the internal subset of a document type. */
  declare(subset: string): void {
    for (const [, name = '', double, single] of subset.matchAll(DECLARATION)) {
      const value = double ?? single ?? ''
      this.#declared ??= new Map()
      if (value.length > LONGEST_DECLARED || this.#declared.size >= MOST_DECLARED) this.exceeded = true
      else if (!this.#declared.has(name)) this.#declared.set(name, value)
    }
  }

  decode(text: string): string {
    return text.includes('&') ? this.#decode(text, 0) : text
  }

  #decode(text: string, depth: number): string {
    let decoded = ''
    let copied = 0
    let at = text.indexOf('&')
    while (at !== -1) {
      let end = -1
      let value: string | undefined
      if (text.charCodeAt(at + 1) === HASH) {
        end = endOfNumber(text, at + 2)
        if (end !== -1 && text.charCodeAt(end) === SEMICOLON) {
          value = String.fromCodePoint(codePointOf(text, at + 2, end))
        }
      } else {
        end = endOfName(text, at + 1)
        if (end !== -1) value = this.#named(text.slice(at + 1, end), depth)
      }
      if (value !== undefined) {
        decoded += text.slice(copied, at) + value
        copied = end + 1
      }
      at = text.indexOf('&', value === undefined ? at + 1 : copied)
    }
    return copied === 0 ? text : decoded + text.slice(copied)
  }

  #named(name: string, depth: number): string | undefined {
    switch (name) {
      case 'amp':
        return '&'
      case 'lt':
        return '<'
      case 'gt':
        return '>'
      case 'quot':
        return '"'
      case 'apos':
        return "'"
    }
    const declared = this.#declared?.get(name)
    if (declared === undefined) return namedReferences().byName.get(name)
    this.#expanded += declared.length
    if (depth >= DEEPEST || this.#expanded > MOST_EXPANDED) {
      this.exceeded = true
      return undefined
    }
    return declared.includes('&') ? this.#decode(declared, depth + 1) : declared
  }
}

/** Position of the semicolon after a name, or -1. */
function endOfName(text: string, start: number): number {
  const last = Math.min(text.length, start + LONGEST_NAME)
  for (let at = start; at < last; at++) {
    const code = text.charCodeAt(at)
    if (code === SEMICOLON) return at === start ? -1 : at
    const isNameCharacter =
      (code >= 0x61 && code <= 0x7a) ||
      (code >= 0x41 && code <= 0x5a) ||
      (code >= 0x30 && code <= 0x39) ||
      (code >= 0x2d && code <= 0x2e) ||
      code === 0x5f ||
      code === 0x3a ||
      code >= 0x80
    if (!isNameCharacter) return -1
  }
  return -1
}
