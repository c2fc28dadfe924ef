import type { PollBudget, PollReport } from '../../feeds/schedule/contract.js'
import type { StateSpace } from '../../stores/contract.js'
import type { Clock } from '../../time.js'

/** The names of all processes that report. */
const REPORTERS = 'reporters'
/** After this many periods without news a process counts as gone. */
const SILENT_PERIODS = 3

/** A report, and a number that changes whenever it does: clocks of machines differ. */
interface Stored {
  readonly n: number
  readonly report: PollReport
}

/**
 * The budget for polls is one for the whole crawl. Processes that share it leave their reports in the store, and each sets
 * the price by all of them.
 */
export class SharedReports {
  readonly #space: StateSpace
  readonly #self: number
  readonly #budget: PollBudget
  readonly #clock: Clock
  readonly #silentMs: number
  readonly #heard = new Map<number, { n: number; at: number }>()
  #n = 0

  constructor(space: StateSpace, self: number, budget: PollBudget, clock: Clock, periodMs: number) {
    this.#space = space
    this.#self = self
    this.#budget = budget
    this.#clock = clock
    this.#silentMs = SILENT_PERIODS * periodMs
  }

  /** Leaves the report of this process, and takes those of the others. */
  async update(report: PollReport): Promise<void> {
    this.#space.put(keyOf(this.#self), { n: ++this.#n, report } satisfies Stored)
    const reporters = ((await this.#space.get(REPORTERS)) as number[] | undefined) ?? []
    const silent: number[] = []
    for (const id of reporters) {
      if (id === this.#self) continue
      if (!(await this.#hear(id))) silent.push(id)
    }
    for (const id of silent) {
      this.#heard.delete(id)
      this.#budget.left(id)
      this.#space.delete(keyOf(id))
    }
    if (silent.length > 0 || !reporters.includes(this.#self)) {
      const present = reporters.filter((id) => id !== this.#self && !silent.includes(id))
      this.#space.put(REPORTERS, [...present, this.#self])
    }
  }

  close(): void {
    this.#space.delete(keyOf(this.#self))
  }

  /** Whether the process still reports. What it says counts from its second report on: the first may be an old one. */
  async #hear(id: number): Promise<boolean> {
    const stored = (await this.#space.get(keyOf(id))) as Stored | undefined
    if (stored === undefined) return false
    const now = this.#clock.now()
    const last = this.#heard.get(id)
    if (last?.n === stored.n) return now < last.at + this.#silentMs
    if (last !== undefined) this.#budget.report(id, stored.report)
    this.#heard.set(id, { n: stored.n, at: now })
    return true
  }
}

function keyOf(id: number): string {
  return `report ${id}`
}
