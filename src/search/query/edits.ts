/**
 * How far a word is from another: insertions, deletions, replacements, and swaps of neighbours. Terms come in order, and
 * share their beginnings, so rows of the table are kept and only those of the new letters are computed.
 */

/** Edits that a word of this length may have. Short words become others with a single edit. */
export function editsAllowed(length: number): number {
  if (length < 4) return 0
  return length < 8 ? 1 : 2
}

export class EditDistance {
  readonly #word: string
  readonly #most: number
  readonly #rows: Uint8Array[] = []
  #term = ''

  constructor(word: string, most: number) {
    this.#word = word
    this.#most = most
    this.#rows.push(Uint8Array.from({ length: word.length + 1 }, (_, index) => Math.min(index, 200)))
  }

  /** The distance, or -1 if it is more than allowed. */
  of(term: string): number {
    const most = this.#most
    if (Math.abs(term.length - this.#word.length) > most) return -1
    const from = commonPrefix(this.#term, term)
    this.#term = term
    for (let at = from; at < term.length; at++) {
      if (this.#fill(term, at) > most) {
        this.#term = term.slice(0, at + 1)
        return -1
      }
    }
    const distance = this.#rows[term.length]![this.#word.length]!
    return distance <= most ? distance : -1
  }

  /** Whether terms with this beginning can be near enough. */
  canBegin(prefix: string): boolean {
    const from = commonPrefix(this.#term, prefix)
    this.#term = prefix
    for (let at = from; at < prefix.length; at++) {
      if (this.#fill(prefix, at) > this.#most) {
        this.#term = prefix.slice(0, at + 1)
        return false
      }
    }
    return true
  }

  /** Fills the row after `term[at]` and returns its least number. */
  #fill(term: string, at: number): number {
    const word = this.#word
    const above = this.#rows[at]!
    const twoAbove = at > 0 ? this.#rows[at - 1]! : above
    const row = (this.#rows[at + 1] ??= new Uint8Array(word.length + 1))
    const unit = term.charCodeAt(at)
    const before = at > 0 ? term.charCodeAt(at - 1) : -1
    row[0] = Math.min(200, at + 1)
    let least = row[0]!
    for (let column = 1; column <= word.length; column++) {
      const letter = word.charCodeAt(column - 1)
      let best = above[column - 1]! + (letter === unit ? 0 : 1)
      if (above[column]! + 1 < best) best = above[column]! + 1
      if (row[column - 1]! + 1 < best) best = row[column - 1]! + 1
      if (column > 1 && letter === before && word.charCodeAt(column - 2) === unit) {
        const swapped = twoAbove[column - 2]! + 1
        if (swapped < best) best = swapped
      }
      row[column] = best
      if (best < least) least = best
    }
    return least
  }
}

function commonPrefix(one: string, other: string): number {
  const most = Math.min(one.length, other.length)
  let at = 0
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at++
  return at
}
