/** Words of a text, also where they are not separated by spaces. */

/** Scripts without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const SPACED_WORD = /\S*[\p{L}\p{N}]\S*/gu
/** Longer runs without a space are cut: no language has such words. */
const LONGEST_RUN = 2000

let segmenter: Intl.Segmenter | undefined

/** The end of each word, in order. */
export function wordEnds(text: string): number[] {
  const ends: number[] = []
  for (const match of text.matchAll(SPACED_WORD)) {
    const run = match[0]
    if (!UNSPACED.test(run)) {
      ends.push(match.index + run.length)
      continue
    }
    segmenter ??= new Intl.Segmenter(undefined, { granularity: 'word' })
    for (let from = 0; from < run.length; from += LONGEST_RUN) {
      for (const { index, segment, isWordLike } of segmenter.segment(run.slice(from, from + LONGEST_RUN))) {
        if (isWordLike) ends.push(match.index + from + index + segment.length)
      }
    }
  }
  return ends
}
