/** "Did you mean …?" for misspelled words. */

/** With more edits than this, it is a different word. */
const MAX_EDITS = 2

/** The known word closest to the given one, or undefined if none is close. */
export function closestWord(given: string, known: Iterable<string>): string | undefined {
  let found: string | undefined
  let fewest = MAX_EDITS + 1
  for (const word of known) {
    const edits = editDistance(given, word)
    // Two edits turn any two-letter word into any other.
    if (edits >= fewest || edits >= word.length) continue
    fewest = edits
    found = word
  }
  return found
}

/** Insertions, deletions, substitutions and swaps of neighbors (Damerau–Levenshtein, restricted edits). */
function editDistance(a: string, b: string): number {
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
