/**
 * How many articles appear in an interval: a negative binomial number N with mean m and variance m + m²/a + c·m² + b·m. The shape
 * a says how well the rate is known (a gamma distribution around its mean), c how much it changes, and b, the burst term,
 * how much articles come in groups.
 */

/** How a feed posts, as far as is known: its rate per day, and how well that is known (shape of a gamma distribution). */
export interface Posting {
  rate: number
  shape: number
}

/** How irregular posting is, beyond articles that come independently at a rate that stays. */
export interface Irregularity {
  /** b: variance as a multiple of the mean. */
  readonly burst: number
  /** c: variance as a multiple of the squared mean. */
  readonly change: number
}

/** The rest of a sum is smaller than what can be known. */
const NEGLIGIBLE = 1e-12
/** Sums are scaled before they overflow. */
const LARGE = 1e200
/** Beyond this count the gamma function is cheaper than a product. */
const LONGEST_PRODUCT = 30

/** What is known about N at a window w. */
export interface Tail {
  /** P(N = 0). */
  empty: number
  /** P(N ≥ w). */
  full: number
  /** E[(N − w)⁺]. */
  lost: number
}

/** The shape of N itself, which grows with the mean as far as bursts are independent of each other. */
export function shapeOf(mean: number, shape: number, { burst, change }: Irregularity): number {
  return 1 / (1 / shape + change + burst / mean)
}

/** Fills `into`, so that tables are made without garbage. */
export function tailAt(mean: number, shape: number, window: number, into: Tail): Tail {
  if (!(mean > 0)) return set(into, 1, window <= 0 ? 1 : 0, 0)
  const ratio = mean / (mean + shape)
  const logEmpty = shape * Math.log1p(-ratio)
  // Terms are relative to P(N = 0), which may be too small for a number.
  let term = 1
  let below = 0
  let short = 0
  let scale = logEmpty
  for (let n = 0; n < window; n++) {
    below += term
    short += (window - n) * term
    term *= ((n + shape) / (n + 1)) * ratio
    if (term > LARGE || short > LARGE) {
      scale += Math.log(LARGE)
      term /= LARGE
      below /= LARGE
      short /= LARGE
    }
    if (term < below * NEGLIGIBLE && n > mean) break
  }
  const unit = Math.exp(scale)
  const full = Math.max(0, 1 - unit * below)
  // E[(N − w)⁺] = m − w + E[(w − N)⁺]; where it is tiny the difference has no digits left, so the tail is summed.
  const difference = mean - window + unit * short
  const lost = difference > 1e-6 * (mean + window) ? difference : tailSum(mean, shape, window)
  return set(into, Math.exp(logEmpty), full, Math.max(0, lost))
}

function set(into: Tail, empty: number, full: number, lost: number): Tail {
  into.empty = empty
  into.full = full
  into.lost = lost
  return into
}

/** E[(N − w)⁺] term by term, for windows far above the mean: the terms fall at once. */
function tailSum(mean: number, shape: number, window: number): number {
  const ratio = mean / (mean + shape)
  let term = Math.exp(logChance(mean, shape, window + 1))
  let sum = 0
  for (let beyond = 1; beyond < 10_000; beyond++) {
    const part = beyond * term
    sum += part
    if (part < sum * NEGLIGIBLE) break
    const n = window + beyond
    term *= ((n + shape) / (n + 1)) * ratio
  }
  return sum
}

/** log P(N = n). */
export function logChance(mean: number, shape: number, n: number): number {
  if (!(mean > 0)) return n === 0 ? 0 : Number.NEGATIVE_INFINITY
  const ratio = mean / (mean + shape)
  const base = shape * Math.log1p(-ratio) + n * Math.log(ratio)
  if (n > LONGEST_PRODUCT) return base + logGamma(n + shape) - logGamma(shape) - logGamma(n + 1)
  let product = 1
  for (let k = 0; k < n; k++) product *= (k + shape) / (k + 1)
  return base + Math.log(product)
}

/** Stirling's series; for small arguments the recurrence leads to larger ones. */
export function logGamma(x: number): number {
  let shift = 0
  let at = x
  while (at < 8) {
    shift += Math.log(at)
    at++
  }
  const square = 1 / (at * at)
  const series = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / at
  return (at - 0.5) * Math.log(at) - at + 0.5 * Math.log(2 * Math.PI) + series - shift
}
