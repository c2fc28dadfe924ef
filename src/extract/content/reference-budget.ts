/**
 * Limits the character references that are decoded in a page. Looking up a name that does not exist takes up to 0.4 µs, and
 * a page of some megabytes can have millions of them; beyond the limit, references stay as they are written.
 */

const MOST_REFERENCES = 200_000

export class ReferenceBudget {
  #left = MOST_REFERENCES

  /** Whether the text has ampersands and may be decoded. */
  allows(text: string): boolean {
    let at = text.indexOf('&')
    if (at === -1) return false
    for (; at !== -1 && this.#left > 0; at = text.indexOf('&', at + 1)) this.#left--
    return this.#left > 0
  }
}
