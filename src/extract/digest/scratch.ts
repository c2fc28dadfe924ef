import { AMPERSAND, HASH, isBlank, LESS_THAN, QUESTION_MARK, SEMICOLON, SPACE } from '../html/characters.js'
import type { Codes } from '../html/codes.js'

/** Larger buffers are not kept: few pages need them. */
const MOST_KEPT = 2 ** 17

/**
 * Characters that are collected of one page after another. The memory is kept from page to page, since to clear it for
 * each would cost as much as to fill it.
 */
export class Scratch {
  codes = new Uint16Array(0)
  length = 0

  /** For a page of `size` characters. What is added of it is hardly longer: a mark is shorter than a tag's name. */
  begin(size: number): void {
    // One look beyond what is collected has to be a look at a number.
    if (this.codes.length < size + 16) this.codes = new Uint16Array(size + (size >> 1) + 16)
    this.length = 0
  }

  /** The page is done. What was collected may be used until the next begins. */
  end(): void {
    if (this.codes.length > MOST_KEPT) this.codes = new Uint16Array(0)
  }

  /** Adds a character, whatever it is. */
  add(code: number): void {
    this.codes[this.length++] = code
  }

  /** Adds a character of a text: white space of any length becomes one blank between two words. */
  word(code: number): void {
    if (isBlank(code)) this.gap()
    else this.codes[this.length++] = code
  }

  /** The next word is another one. */
  gap(): void {
    if (this.length > 0 && this.codes[this.length - 1] !== SPACE) this.codes[this.length++] = SPACE
  }

  text(text: string): void {
    for (let at = 0; at < text.length; at++) this.word(text.charCodeAt(at))
  }

  /**
   * Adds text up to a character that may begin markup or a reference, whose position it returns, or the end of the page.
   * Nearly all of a text passes here, and of its characters nearly all take the first turning.
   */
  plain(from: Codes, start: number): number {
    const { codes } = this
    const end = from.length
    let length = this.length
    let last = length === 0 ? SPACE : codes[length - 1]!
    let at = start
    for (; at < end; at++) {
      let code = from[at]!
      // Letters are between these, the question mark and the no-break space. Written out: a bundler makes a variable of
      // each constant, to be read anew for each character.
      if (code <= 0x3f || code >= 0xa0) {
        if (code === LESS_THAN || code === AMPERSAND) break
        if (isBlank(code)) {
          if (last === SPACE) continue
          code = SPACE
        }
      }
      codes[length++] = last = code
    }
    this.length = length
    return at
  }

  /**
   * Adds `mark` and an address, unless it has a character that asks for more care. Nearly all have none, and are copied
   * without a string being made of them.
   */
  plainAddress(mark: number, from: Codes, start: number, end: number): boolean {
    const { codes } = this
    let length = this.length
    codes[length++] = mark
    for (let at = start; at < end; at++) {
      const code = from[at]!
      if (code <= 0x3f && isSpecial(code)) return false
      codes[length++] = code
    }
    this.length = length
    return true
  }

  /** Adds what another one has collected, behind a character that no text holds. */
  append(other: Scratch): void {
    if (this.length > 0 && this.codes[this.length - 1] === SPACE) this.length--
    this.add(0)
    const room = this.codes.length - this.length
    const added = Math.max(0, Math.min(other.length, room))
    this.codes.set(other.codes.subarray(0, added), this.length)
    this.length += added
  }
}

/** Whether an address with this character may have a part that is to be decoded or left out. */
function isSpecial(code: number): boolean {
  return code === QUESTION_MARK || code === SEMICOLON || code === AMPERSAND || code === HASH || code <= SPACE
}
