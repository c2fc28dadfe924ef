import { AMPERSAND, HASH, isBlank, LESS_THAN, QUESTION_MARK, SEMICOLON, SPACE } from '../html/characters.js'
import type { Codes } from '../html/codes.js'

/** Larger buffers are not kept: few pages need them. */
const MOST_KEPT = 2 ** 17

/**
 * Collects the characters of one page after another. The memory is reused, because clearing it for each page would cost as
 * much as filling it.
 */
export class TextBuffer {
  codes = new Uint16Array(0)
  length = 0

  /** Prepares for a page of `size` characters. The output is hardly longer: a mark is shorter than a tag name. */
  begin(size: number): void {
    // Room for reading one element beyond the end.
    if (this.codes.length < size + 16) this.codes = new Uint16Array(size + (size >> 1) + 16)
    this.length = 0
  }

  /** Ends the page. The content stays valid until the next `begin`. */
  end(): void {
    if (this.codes.length > MOST_KEPT) this.codes = new Uint16Array(0)
  }

  /** Adds a character as it is. */
  add(code: number): void {
    this.codes[this.length++] = code
  }

  /** Adds a character of text: white space becomes one space between two words. */
  word(code: number): void {
    if (isBlank(code)) this.gap()
    else this.codes[this.length++] = code
  }

  /** Starts a new word. */
  gap(): void {
    if (this.length > 0 && this.codes[this.length - 1] !== SPACE) this.codes[this.length++] = SPACE
  }

  text(text: string): void {
    for (let at = 0; at < text.length; at++) this.word(text.charCodeAt(at))
  }

  /**
   * Adds text up to a character that may start markup or a reference; returns its position, or the end of the page. Nearly
   * all text passes through here, and nearly all characters skip the first `if`.
   */
  plain(from: Codes, start: number): number {
    const { codes } = this
    const end = from.length
    let length = this.length
    let last = length === 0 ? SPACE : codes[length - 1]!
    let at = start
    for (; at < end; at++) {
      let code = from[at]!
      // Letters are between the question mark and the no-break space. Literals: a bundler turns each constant into a
      // variable, which would be read again for every character.
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
   * Adds `mark` and a URL, unless it has a character that needs closer inspection; then it returns false. Nearly all URLs
   * are plain and are copied without making a string.
   */
  plainUrl(mark: number, from: Codes, start: number, end: number): boolean {
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

  /** Adds the content of another buffer, after a character that no text contains. */
  append(other: TextBuffer): void {
    if (this.length > 0 && this.codes[this.length - 1] === SPACE) this.length--
    this.add(0)
    const room = this.codes.length - this.length
    const added = Math.max(0, Math.min(other.length, room))
    this.codes.set(other.codes.subarray(0, added), this.length)
    this.length += added
  }
}

/** Whether a URL with this character may have a part to decode or drop. */
function isSpecial(code: number): boolean {
  return code === QUESTION_MARK || code === SEMICOLON || code === AMPERSAND || code === HASH || code <= SPACE
}
