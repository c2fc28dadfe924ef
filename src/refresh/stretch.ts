/**
 * By how much the intervals of all pages must be lengthened so that the sockets suffice (Tamura eq. 4, and the
 * correction if it does not hold).
 *
 * A server needs u = e·L of a socket and can use no more than c of one, because it is visited one page at a time and
 * with pauses. With all intervals lengthened by s it needs min(u / s, c): all of c while s is below its own breakpoint
 * b = u / c, and less beyond. So Σ min(u / s, c) ≤ sockets can be decided from two sums: that of u over servers whose b
 * is smaller than s, and that of c over the others.
 *
 * Servers whose b differs by less than one percent share a class, and a class counts as one server. This never
 * underestimates the need, and overestimates it by less than a percent.
 */

/**
 * Classes of breakpoints above 1; servers below are all alike, because intervals are never shortened. A power of two.
 */
const CLASSES = 2048
const CLASS_WIDTH = 1.01
/**
 * Half a million pages that need a visit each second have a breakpoint of 5e5; everything above 7e8 is in the last
 * class.
 */
const LOWER_EDGES = Float64Array.from({ length: CLASSES + 1 }, (_, index) => CLASS_WIDTH ** index)
/**
 * What a server adds to a sum is a multiple of this, which makes sums up to 2^17 sockets exact: adding and removing
 * servers leaves no error behind, and the sums depend only on the servers in them.
 */
const QUANTUM = 2 ** -36
/** Maximum relative error of sums of reciprocals: ten pages every ten seconds are one a second. */
const ROUNDING = 1e-9

/** By how much a server's intervals must be lengthened no matter how many sockets there are; 1: not at all. */
export function ownStretch(need: number, capacity: number): number {
  const breakpoint = need / capacity
  return breakpoint > 1 + ROUNDING ? breakpoint : 1
}

/** Rounds a number of sockets up. */
export function roundUpSockets(need: number): number {
  return Math.ceil(need * (1 - ROUNDING))
}

/** The needs of all servers, summed by class. An update and the minimum stretch both take about eleven steps. */
export class LoadHistogram {
  /** Σ u over servers that need no more than is possible. */
  #light = 0
  /** Σ u of each class, in units of its lower edge: these are about as large as c, so the same quantum suits them. */
  readonly #units = new Float64Array(CLASSES)
  /** Σ u and Σ c as trees: node n is the sum of 2n and 2n + 1, classes are the leaves, 1 is the root. */
  readonly #need = new Float64Array(2 * CLASSES)
  readonly #capacity = new Float64Array(2 * CLASSES)
  #overloaded = 0

  /** Servers that need more than is possible no matter how many sockets there are. */
  get overloaded(): number {
    return this.#overloaded
  }

  /** Σ min(u, c): the sockets needed without a stretch (Tamura eq. 4). */
  get needed(): number {
    return this.#light + this.#capacity[1]!
  }

  /** Adds a server that needs `need` of a socket and can use no more than `capacity`. */
  add(need: number, capacity: number): void {
    this.#change(need, capacity, 1)
  }

  /** Removes a server; the arguments must be those of `add`. */
  remove(need: number, capacity: number): void {
    this.#change(need, capacity, -1)
  }

  /** Whether this many sockets suffice without a stretch. */
  suffices(sockets: number): boolean {
    return this.needed <= sockets * (1 + ROUNDING)
  }

  /** The minimum stretch, 1 or more, with which this many sockets suffice. */
  minStretch(sockets: number): number {
    if (this.suffices(sockets)) return 1
    const need = this.#need
    const capacity = this.#capacity
    // Descend to the class with the answer: `below` sums u of the classes before it, `above` c of those after it.
    let below = this.#light
    let above = 0
    let node = 1
    let first = 0
    for (let half = CLASSES / 2; node < CLASSES; half /= 2) {
      const left = 2 * node
      const ifBehind = (below + need[left]!) / LOWER_EDGES[first + half]! + above + capacity[left + 1]!
      if (ifBehind > sockets) {
        below += need[left]!
        first += half
        node = left + 1
      } else {
        above += capacity[left + 1]!
        node = left
      }
    }
    // Before its breakpoint, a class takes its c; after it, its share of u.
    const beforeBreakpoint = below / (sockets - above - capacity[node]!)
    const isBefore =
      sockets > above + capacity[node]! &&
      beforeBreakpoint * capacity[node]! <= need[node]! &&
      capacity[node]! > 0
    const stretch = isBefore ? beforeBreakpoint : (below + need[node]!) / (sockets - above)
    return Math.max(1, stretch)
  }

  #change(need: number, capacity: number, sign: 1 | -1): void {
    const breakpoint = ownStretch(need, capacity)
    if (breakpoint === 1) {
      this.#light += sign * quantized(need)
      return
    }
    this.#overloaded += sign
    const index = Math.min(CLASSES - 1, Math.floor(Math.log(breakpoint) / Math.log(CLASS_WIDTH)))
    const edge = LOWER_EDGES[index]!
    this.#units[index]! += sign * quantized(need / edge)
    let node = CLASSES + index
    this.#need[node] = this.#units[index]! * edge
    this.#capacity[node]! += sign * quantized(capacity)
    // Recompute nodes instead of updating them, so that no rounding error outlives its cause.
    for (node >>= 1; node > 0; node >>= 1) {
      this.#need[node] = this.#need[2 * node]! + this.#need[2 * node + 1]!
      this.#capacity[node] = this.#capacity[2 * node]! + this.#capacity[2 * node + 1]!
    }
  }
}

function quantized(value: number): number {
  return Math.round(value / QUANTUM) * QUANTUM
}

/** Explains why a server's pages cannot be visited as often as wanted. */
export function explainOverload(pages: number, wantedMs: number, possibleMs: number, isHeld = false): string {
  const [wanted, possible] = inSeconds(wantedMs, possibleMs)
  const who = pages === 1 ? '1 page needs' : `${pages.toLocaleString('en')} pages need`
  const what = isHeld ? 'a visit with its extractors and hooks takes' : 'a visit and the pause after it take'
  return `${who} a visit every ${wanted}, but ${what} ${possible}`
}

/** Explains why sockets do not suffice. `heldMs` of `visitMs` are for extractors and hooks. */
export function explainShortage(isHeld: boolean, visitMs: number, heldMs: number): string {
  const [held, visit] = inSeconds(heldMs, visitMs)
  return isHeld
    ? `a visit holds its slot for ${visit}, ${held} of it for extractors, hooks and listeners: make these faster, or raise concurrency()`
    : `downloads take ${((visitMs - heldMs) / 1000).toFixed(1)} s each: raise concurrency(), or lengthen intervals`
}

/** Two times with one decimal, or as many as needed to tell them apart. */
function inSeconds(shorterMs: number, longerMs: number): readonly [shorter: string, longer: string] {
  for (let digits = 1; ; digits++) {
    const [shorter, longer] = [(shorterMs / 1000).toFixed(digits), (longerMs / 1000).toFixed(digits)]
    if ((shorter !== longer && Number(shorter) > 0) || digits === 9) return [`${shorter} s`, `${longer} s`]
  }
}
