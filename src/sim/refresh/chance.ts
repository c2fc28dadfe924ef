/** Randomness for simulations of refreshing: log-normal numbers, and draws that do not depend on their order. */

/** Peter Acklam's rational approximation of the inverse normal distribution; the error is at most 1e-9. */
export function normalQuantile(share: number): number {
  if (share > 0.5) return -normalQuantile(1 - share)
  if (share < TAIL) {
    const r = Math.sqrt(-2 * Math.log(share))
    return polynomial(TAIL_TOP, r) / (polynomial(TAIL_BOTTOM, r) * r + 1)
  }
  const offset = share - 0.5
  const square = offset * offset
  return (offset * polynomial(MIDDLE_TOP, square)) / (polynomial(MIDDLE_BOTTOM, square) * square + 1)
}

/** The quantile of a log-normal distribution with this mean. */
function logNormalQuantile(mean: number, spread: number, share: number): number {
  return mean * Math.exp(spread * normalQuantile(share) - (spread * spread) / 2)
}

/** Equally likely values of a log-normal distribution: to draw a number, pick one. */
export function logNormalTable(mean: number, spread: number, size: number): Float64Array {
  return Float64Array.from({ length: size }, (_, i) => logNormalQuantile(mean, spread, (i + 0.5) / size))
}

/** Hashes three numbers to 32 bits. */
export function mixed(seed: number, one: number, other: number): number {
  let bits = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(one + 1, 0xc2b2ae35)
  bits = Math.imul(bits ^ (bits >>> 15), 0x2c1b3c6d) ^ Math.imul(other + 1, 0x27d4eb2f)
  bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d)
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b)
  return (bits ^ (bits >>> 16)) >>> 0
}

const TAIL = 0.02425
const TAIL_TOP = [
  -7.784894002430293e-3, -0.3223964580411365, -2.400758277161838, -2.549732539343734, 4.374664141464968,
  2.938163982698783,
]
const TAIL_BOTTOM = [7.784695709041462e-3, 0.3224671290700398, 2.445134137142996, 3.754408661907416]
const MIDDLE_TOP = [
  -39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269, -30.66479806614716,
  2.506628277459239,
]
const MIDDLE_BOTTOM = [
  -54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972, -13.28068155288572,
]

function polynomial(coefficients: readonly number[], x: number): number {
  let sum = 0
  for (const coefficient of coefficients) sum = sum * x + coefficient
  return sum
}
