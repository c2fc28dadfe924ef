/** Lengths of fields in one byte: exact up to 31 words, within 9 % above. Ranking needs no more. */

const EXACT = 32
/** Steps for each doubling. */
const STEPS = 8

export function lengthCode(length: number): number {
  if (length < EXACT) return length
  return Math.min(255, EXACT + Math.floor(Math.log2(length / EXACT) * STEPS))
}

/** The length of each code: whole numbers, so that sums do not depend on their order. */
export const LENGTHS: Float64Array = Float64Array.from({ length: 256 }, (_, code) =>
  code < EXACT ? code : Math.round(EXACT * 2 ** ((code - EXACT) / STEPS)),
)
