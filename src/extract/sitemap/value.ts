/** Collects the text of one element from its pieces: bounded, decoded, trimmed. */

import { owned } from '../../owned.js'

/** Longer than any URL that servers accept. A cut URL would be a different URL, so longer ones are dropped. */
export const LONGEST_VALUE = 8192

/** XML has five named entities; the rest are numbers. Bounded, so that a long run of digits is not read to its end. */
const REFERENCE = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z_][\w.-]{0,63}));/gi
const NAMED = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }))
const LAST_CODE_POINT = 0x10ffff

/** Filled with the pieces of one element's text, emptied at its end. */
export class ValueCollector {
  /** Set once the document declares entities: they are not expanded, so a value that uses one is unknown. */
  entitiesDeclared = false
  #decoded = ''
  #written = ''
  #length = 0
  #unknown = false

  add(text: string, verbatim: boolean): void {
    this.#length += text.length
    if (this.#length > LONGEST_VALUE) return
    if (!verbatim) {
      this.#written += text
      return
    }
    this.#decoded += this.#decode(this.#written) + text
    this.#written = ''
  }

  /** The value: empty if there is none or it is unknown, undefined if it is too long. */
  take(): string | undefined {
    const value = owned((this.#decoded + this.#decode(this.#written)).trim())
    const tooLong = this.#length > LONGEST_VALUE
    const unknown = this.#unknown
    this.clear()
    return tooLong ? undefined : unknown ? '' : value
  }

  clear(): void {
    this.#decoded = ''
    this.#written = ''
    this.#length = 0
    this.#unknown = false
  }

  /** An undeclared reference stays as it is: it is an unescaped ampersand. */
  #decode(text: string): string {
    if (!text.includes('&')) return text
    return text.replace(REFERENCE, (written, decimal?: string, hexadecimal?: string, name?: string) => {
      if (name !== undefined) {
        const character = NAMED.get(name)
        if (character === undefined && this.entitiesDeclared) this.#unknown = true
        return character ?? written
      }
      const code = decimal === undefined ? Number.parseInt(hexadecimal!, 16) : Number(decimal)
      return code > LAST_CODE_POINT ? written : String.fromCodePoint(code)
    })
  }
}
