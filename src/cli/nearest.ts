/** Finds what a misspelt word was meant to be. */

/** Beyond this many slips of the finger it is another word. */
const MOST_SLIPS = 2

/** The known word that is nearest to the given one, if it is near enough to be meant. */
export function nearest(given: string, known: Iterable<string>): string | undefined {
  let found: string | undefined
  let fewest = MOST_SLIPS + 1
  for (const word of known) {
    const slips = slipsBetween(given, word)
    // In a word of two letters, two slips are all of it.
    if (slips >= fewest || slips >= word.length) continue
    fewest = slips
    found = word
  }
  return found
}

/** Letters to add, leave out, replace or swap with their neighbour, to make one word of the other. */
function slipsBetween(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        rows[i - 1]![j]! + 1,
        row[j - 1]! + 1,
        rows[i - 1]![j - 1]! + (isSame ? 0 : 1),
        isSwapped ? rows[i - 2]![j - 2]! + 1 : Number.POSITIVE_INFINITY,
      )
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
