/** The best records of all segments, in an order that does not depend on how documents are spread over them. */

import type { LiveSegment } from '../index/state.js'

/** What puts records in order. */
export interface Ranking {
  readonly record: number
  /** What it is ordered by, largest first. */
  readonly key: number
  readonly score: number
  /** Two words of the hash of its id, for ties. */
  readonly high: number
  readonly low: number
}

/** A record that may become a hit. */
export interface Candidate extends Ranking {
  /** Number of its segment. */
  readonly segment: number
  readonly page: number
  /** Matching sections of its page. */
  readonly sections: number
}

/** Equal keys are ordered by the hash of the id, which no merge and no shard changes, and then by section. */
export function compareCandidates(a: Ranking, b: Ranking): number {
  if (a.key !== b.key) return b.key - a.key
  if (a.high !== b.high) return a.high - b.high
  if (a.low !== b.low) return a.low - b.low
  return a.record - b.record
}

export function candidateOf(
  segments: readonly LiveSegment[],
  segment: number,
  record: number,
  page: number,
  key: number,
  score: number,
  sections: number,
): Candidate {
  const { hashes } = segments[segment]!.segment
  return { segment, record, page, key, score, sections, high: hashes[page * 3]!, low: hashes[page * 3 + 1]! }
}

/** Keeps the best of many: a heap with the worst on top. */
export class BestCandidates {
  readonly #most: number
  readonly #heap: Candidate[] = []

  constructor(most: number) {
    this.#most = most
  }

  /** Nothing with a smaller key can be among the best. */
  get threshold(): number {
    return this.#heap.length < this.#most ? Number.NEGATIVE_INFINITY : this.#heap[0]!.key
  }

  add(candidate: Candidate): void {
    const heap = this.#heap
    if (heap.length < this.#most) {
      heap.push(candidate)
      this.#up(heap.length - 1)
    } else if (this.#most > 0 && compareCandidates(candidate, heap[0]!) < 0) {
      heap[0] = candidate
      this.#down(0)
    }
  }

  sorted(): Candidate[] {
    return [...this.#heap].sort(compareCandidates)
  }

  #up(at: number): void {
    const heap = this.#heap
    while (at > 0) {
      const parent = (at - 1) >>> 1
      if (compareCandidates(heap[at]!, heap[parent]!) <= 0) return
      swap(heap, at, parent)
      at = parent
    }
  }

  #down(at: number): void {
    const heap = this.#heap
    for (;;) {
      let worst = at
      for (const child of [at * 2 + 1, at * 2 + 2])
        if (child < heap.length && compareCandidates(heap[child]!, heap[worst]!) > 0) worst = child
      if (worst === at) return
      swap(heap, at, worst)
      at = worst
    }
  }
}

function swap(heap: Candidate[], one: number, other: number): void {
  const kept = heap[one]!
  heap[one] = heap[other]!
  heap[other] = kept
}
