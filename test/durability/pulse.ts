/**
 * How a program's time went. A program that gets none from a busy machine, or has its hands full, commits nothing
 * meanwhile, which is no fault of its store: how long its turns took must be known.
 */

import { existsSync, readFileSync } from 'node:fs'

/** The instants in the file; none if the program did not live to write it. Those of an earlier run are left out. */
export function readBeats(file: string, startedAt: number): number[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.map(Number).filter((at) => at >= startedAt)
}

/** The beats of one run. */
export class Pulse {
  readonly #beats: readonly number[]
  readonly #beatMs: number

  constructor(beats: readonly number[], beatMs: number) {
    this.#beats = beats
    this.#beatMs = beatMs
  }

  /** The longest time within this span that it was kept from doing anything new. */
  longestTurnMs(from: number, to: number): number {
    let longest = 0
    let last = from
    for (const at of [...this.#beats.filter((beat) => beat > from && beat < to), to]) {
      longest = Math.max(longest, at - last - this.#beatMs)
      last = at
    }
    return longest
  }
}
