/** The grid of prices on which shards report what polls would cost and save. */

/** A price is a number of articles: what one poll must save at least. */
const LOWEST = 1e-5
const HIGHEST = 1e4
export const PRICES = 64
const STEP = Math.log(HIGHEST / LOWEST) / (PRICES - 1)

/** In rising order. */
export const priceGrid: readonly number[] = Array.from(
  { length: PRICES },
  (_, at) => LOWEST * Math.exp(at * STEP),
)

/** A price within the grid. */
export function boundedPrice(price: number): number {
  return price >= LOWEST ? Math.min(HIGHEST, price) : LOWEST
}

/** The value of a curve at a price between two of the grid. */
export function valueAt(curve: readonly number[], price: number): number {
  const place = Math.log(boundedPrice(price) / LOWEST) / STEP
  const at = Math.min(PRICES - 2, Math.floor(place))
  return between(curve[at] ?? 0, curve[at + 1] ?? 0, place - at)
}

/**
 * The price at which a curve has a value; the curve falls with the price if `falls`, and rises otherwise. Beyond its ends, the
 * price of the end.
 */
export function priceAt(curve: readonly number[], value: number, falls: boolean): number {
  const isBefore = (at: number) => (falls ? curve[at]! > value : curve[at]! < value)
  if (!isBefore(0)) return LOWEST
  let at = 0
  while (at < PRICES - 1 && isBefore(at + 1)) at++
  if (at === PRICES - 1) return HIGHEST
  const [from, to] = [curve[at]!, curve[at + 1]!]
  const share = from === to ? 0 : shareBetween(from, to, value)
  return priceGrid[at]! * Math.exp(share * STEP)
}

/** Values span many powers of ten, so they are interpolated by their logarithms where there are some. */
function between(from: number, to: number, share: number): number {
  if (from > 0 && to > 0) return from * (to / from) ** share
  return from + (to - from) * share
}

function shareBetween(from: number, to: number, value: number): number {
  if (from > 0 && to > 0 && value > 0) return Math.log(value / from) / Math.log(to / from)
  return (value - from) / (to - from)
}
