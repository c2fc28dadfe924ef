/**
 * By how much the intervals of all pages must be lengthened so that the sockets suffice (Tamura eq. 4, and the correction
 * that follows if it does not hold).
 *
 * A server needs u = e·L of a socket, and can use no more than c of one, for it is visited one page at a time and with
 * pauses. With all intervals lengthened by s it needs min(u / s, c): the whole of c as long as s is below its own
 * breakpoint b = u / c, and less and less beyond. So Σ min(u / s, c) ≤ sockets is answered from two sums: that of u over
 * servers with a smaller b than s, and that of c over the others.
 *
 * Servers with the same b but for one per cent share a class, and a class counts as one server. That never finds too
 * small a need, and too large a one by less than a per cent.
 */

/** Classes of breakpoints above 1; servers below are all alike, for nothing is ever shortened. A power of two. */
const CLASSES = 2048
const CLASS_WIDTH = 1.01
/** Half a million pages that wish a visit each second come to 5e5; what exceeds 7e8 shares the last class. */
const LOWER_EDGES = Float64Array.from({ length: CLASSES + 1 }, (_, index) => CLASS_WIDTH ** index)
/**
 * What a server adds to a sum is a multiple of this. Sums up to 2^17 sockets are then exact: what was added and taken away
 * again leaves nothing behind, however often, and the sums depend on the servers that are there and on nothing else.
 */
const GRAIN = 2 ** -36
/** Sums of reciprocals are off by that much or less: ten pages every ten seconds are one a second. */
const ROUNDING = 1e-9

/** What a server must have its intervals lengthened by, however many sockets there are; 1: not at all. */
export function ownStretch(need: number, most: number): number {
  const breakpoint = need / most
  return breakpoint > 1 + ROUNDING ? breakpoint : 1
}

/** A number of sockets as a whole number. */
export function wholeSockets(need: number): number {
  return Math.ceil(need * (1 - ROUNDING))
}

/** The needs of all servers, summed by class. A change and the least stretch both take about eleven steps. */
export class LoadClasses {
  /** Σ u over servers that wish no more than is possible. */
  #light = 0
  /** Σ u of each class, in units of its lower edge: they are about as large as c, so the same grain suits them. */
  readonly #units = new Float64Array(CLASSES)
  /** Σ u and Σ c as trees: node n is the sum of 2n and 2n + 1, classes are the leaves, 1 is the root. */
  readonly #need = new Float64Array(2 * CLASSES)
  readonly #most = new Float64Array(2 * CLASSES)
  #overloaded = 0

  /** Servers that wish more than is possible, however many sockets there are. */
  get overloaded(): number {
    return this.#overloaded
  }

  /** Σ min(u, c): the sockets that the wishes need as they are (Tamura eq. 4). */
  get needed(): number {
    return this.#light + this.#most[1]!
  }

  /** A server that needs `need` of a socket and can use no more than `most`. */
  add(need: number, most: number): void {
    this.#change(need, most, 1)
  }

  /** Takes back what `add` was told in the same words. */
  remove(need: number, most: number): void {
    this.#change(need, most, -1)
  }

  /** Whether the wishes can be granted with so many sockets, as far as these are concerned. */
  suffice(sockets: number): boolean {
    return this.needed <= sockets * (1 + ROUNDING)
  }

  /** The least stretch, 1 or more, with which so many sockets suffice. */
  least(sockets: number): number {
    if (this.suffice(sockets)) return 1
    const need = this.#need
    const most = this.#most
    // Down to the class that the answer is in: `below` sums u of the classes before, `above` c of those behind.
    let below = this.#light
    let above = 0
    let node = 1
    let first = 0
    for (let half = CLASSES / 2; node < CLASSES; half /= 2) {
      const left = 2 * node
      const ifBehind = (below + need[left]!) / LOWER_EDGES[first + half]! + above + most[left + 1]!
      if (ifBehind > sockets) {
        below += need[left]!
        first += half
        node = left + 1
      } else {
        above += most[left + 1]!
        node = left
      }
    }
    // Before the breakpoint of the class it takes its c, behind it its share of u.
    const beforeBreakpoint = below / (sockets - above - most[node]!)
    const isBefore =
      sockets > above + most[node]! && beforeBreakpoint * most[node]! <= need[node]! && most[node]! > 0
    const stretch = isBefore ? beforeBreakpoint : (below + need[node]!) / (sockets - above)
    return Math.max(1, stretch)
  }

  #change(need: number, most: number, sign: 1 | -1): void {
    const breakpoint = ownStretch(need, most)
    if (breakpoint === 1) {
      this.#light += sign * grains(need)
      return
    }
    this.#overloaded += sign
    const index = Math.min(CLASSES - 1, Math.floor(Math.log(breakpoint) / Math.log(CLASS_WIDTH)))
    const edge = LOWER_EDGES[index]!
    this.#units[index]! += sign * grains(need / edge)
    let node = CLASSES + index
    this.#need[node] = this.#units[index]! * edge
    this.#most[node]! += sign * grains(most)
    // Nodes are summed anew instead of changed, so that no error of rounding outlives what caused it.
    for (node >>= 1; node > 0; node >>= 1) {
      this.#need[node] = this.#need[2 * node]! + this.#need[2 * node + 1]!
      this.#most[node] = this.#most[2 * node]! + this.#most[2 * node + 1]!
    }
  }
}

function grains(value: number): number {
  return Math.round(value / GRAIN) * GRAIN
}

/** Why a server cannot be refreshed as wished, in a sentence. */
export function whyOverloaded(pages: number, wantedMs: number, possibleMs: number, isHeld = false): string {
  const [wished, possible] = inSeconds(wantedMs, possibleMs)
  const who = pages === 1 ? '1 page wishes' : `${pages.toLocaleString('en')} pages wish`
  const what = isHeld ? 'a visit with its extractors and hooks takes' : 'a visit and the pause after it take'
  return `${who} a visit every ${wished}, but ${what} ${possible}`
}

/** Why sockets do not suffice, in a sentence: `heldMs` of `visitMs` are for extractors and hooks. */
export function whyShort(isHeld: boolean, visitMs: number, heldMs: number): string {
  const [held, visit] = inSeconds(heldMs, visitMs)
  return isHeld
    ? `a visit holds its slot for ${visit}, ${held} of it for extractors, hooks and listeners: make these faster, or raise concurrency()`
    : `downloads take ${((visitMs - heldMs) / 1000).toFixed(1)} s each: raise concurrency(), or lengthen intervals`
}

/** Two times with one decimal, or as many as it takes to tell them apart. */
function inSeconds(shorterMs: number, longerMs: number): readonly [shorter: string, longer: string] {
  for (let digits = 1; ; digits++) {
    const [shorter, longer] = [(shorterMs / 1000).toFixed(digits), (longerMs / 1000).toFixed(digits)]
    if ((shorter !== longer && Number(shorter) > 0) || digits === 9) return [`${shorter} s`, `${longer} s`]
  }
}
