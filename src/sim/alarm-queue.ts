import type { Timer } from '../time.js'

/**
 * The timers of a virtual clock: earliest first, equal times in the order in which they were set.
 *
 * Nearly every timer of a crawl is a deadline that is cancelled long before its time, so a cancelled timer must leave
 * at once. The frontier's heap cannot do that; here each alarm knows its index, so cancelled deadlines do not pile up.
 */
export class AlarmQueue {
  readonly #heap: Alarm[] = []
  #set = 0

  get size(): number {
    return this.#heap.length
  }

  get first(): Alarm | undefined {
    return this.#heap[0]
  }

  add(at: number, callback: () => void): Alarm {
    const alarm = new Alarm(this, at, this.#set++, callback)
    this.#heap.push(alarm)
    this.#rise(alarm, this.#heap.length - 1)
    return alarm
  }

  /** Removes an alarm from anywhere in the queue; does nothing if it is not in the queue any more. */
  remove(alarm: Alarm): void {
    const hole = alarm.place
    if (hole === GONE) return
    alarm.place = GONE
    const last = this.#heap.pop()!
    if (last === alarm) return
    const parent = this.#heap[(hole - 1) >> 1]
    if (hole > 0 && before(last, parent!)) this.#rise(last, hole)
    else this.#sink(last, hole)
  }

  #rise(alarm: Alarm, hole: number): void {
    const heap = this.#heap
    while (hole > 0) {
      const above = (hole - 1) >> 1
      const parent = heap[above]!
      if (before(parent, alarm)) break
      heap[hole] = parent
      parent.place = hole
      hole = above
    }
    heap[hole] = alarm
    alarm.place = hole
  }

  #sink(alarm: Alarm, hole: number): void {
    const heap = this.#heap
    for (;;) {
      let below = 2 * hole + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && before(heap[below + 1]!, heap[below]!)) below++
      const child = heap[below]!
      if (before(alarm, child)) break
      heap[hole] = child
      child.place = hole
      hole = below
    }
    heap[hole] = alarm
    alarm.place = hole
  }
}

/** The index of an alarm that has fired or was cancelled. */
const GONE = -1

/** A timer that is set. */
class Alarm implements Timer {
  readonly at: number
  readonly order: number
  readonly callback: () => void
  /** Its index in the heap. Written only by the queue. */
  place = GONE
  readonly #queue: AlarmQueue

  constructor(queue: AlarmQueue, at: number, order: number, callback: () => void) {
    this.#queue = queue
    this.at = at
    this.order = order
    this.callback = callback
  }

  cancel(): void {
    this.#queue.remove(this)
  }
}

function before(a: Alarm, b: Alarm): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
