import { virtualClock } from 'kumo/sim'
import { describe, expect, it } from 'vitest'
import { Deadlines, Expiring } from '../../src/engine/deadlines.js'
import type { Timer } from '../../src/time.js'
import { ManualClock } from './manual-clock.js'

class Task extends Expiring {
  expiredAt: number | undefined

  constructor(readonly now: () => number) {
    super()
  }

  expire(): void {
    this.expiredAt = this.now()
  }
}

describe('Deadlines', () => {
  it('expires each task at its own time, and those that are done never', async () => {
    const clock = virtualClock(1000)
    const deadlines = new Deadlines<Task>(clock, 100)
    const [first, done, last] = Array.from({ length: 3 }, () => new Task(() => clock.now()))
    deadlines.start(first!, clock.now())
    await clock.advance(30)
    deadlines.start(done!, clock.now())
    deadlines.start(last!, clock.now())
    await clock.advance(50)
    deadlines.done(done!)
    expect(deadlines.running()).toEqual([first, last])
    await clock.advance(500)
    expect([first!.expiredAt, done!.expiredAt, last!.expiredAt]).toEqual([1100, undefined, 1130])
    expect(deadlines.running()).toEqual([])
  })

  it('starts again after it had nothing to do', async () => {
    const clock = virtualClock(0)
    const deadlines = new Deadlines<Task>(clock, 100)
    const early = new Task(() => clock.now())
    deadlines.start(early, clock.now())
    deadlines.done(early)
    await clock.advance(1000)
    const late = new Task(() => clock.now())
    deadlines.start(late, clock.now())
    await clock.advance(1000)
    expect([early.expiredAt, late.expiredAt]).toEqual([undefined, 1100])
  })

  it('is not troubled by tasks that are done twice, expired or were never started', async () => {
    const clock = virtualClock(0)
    const deadlines = new Deadlines<Task>(clock, 100)
    const [expired, twice, never, running] = Array.from({ length: 4 }, () => new Task(() => clock.now()))
    deadlines.start(expired!, clock.now())
    await clock.advance(150)
    deadlines.start(twice!, clock.now())
    deadlines.start(running!, clock.now())
    for (const task of [expired, twice, twice, never]) deadlines.done(task!)
    expect(deadlines.running()).toEqual([running])
    deadlines.done(running!)
    expect(deadlines.running()).toEqual([])
  })

  it('expires nobody after it was closed', async () => {
    const clock = virtualClock(0)
    const deadlines = new Deadlines<Task>(clock, 100)
    const task = new Task(() => clock.now())
    deadlines.start(task, clock.now())
    deadlines.close()
    await clock.advance(1000)
    expect(task.expiredAt).toBeUndefined()
  })
})

/** A clock of a loop that reads sockets after timers. */
class LoopClock extends ManualClock {
  readonly #waiting = new Set<() => void>()

  afterArrivals(callback: () => void): Timer {
    this.#waiting.add(callback)
    return { cancel: () => void this.#waiting.delete(callback) }
  }

  /** Timers ring, then what has arrived is read, then those are called who waited for it. */
  turn(arrive: () => void = () => {}): void {
    this.advance(0)
    arrive()
    for (const callback of this.#waiting) {
      this.#waiting.delete(callback)
      callback()
    }
  }
}

describe('Deadlines of a loop that was blocked', () => {
  function startTasks(count: number, ms = 1000) {
    const clock = new LoopClock(0)
    const deadlines = new Deadlines<Task>(clock, ms)
    const start = () => {
      const task = new Task(() => clock.now())
      deadlines.start(task, clock.now())
      return task
    }
    return { clock, deadlines, start, tasks: Array.from({ length: count }, start) }
  }
  const pass = (clock: LoopClock, ms: number) => {
    for (let i = 0; i < ms; i++) {
      clock.block(1)
      clock.turn()
    }
  }

  it('believe none before what has arrived was read', () => {
    const { clock, deadlines, tasks } = startTasks(2)
    const [answered, silent] = tasks
    pass(clock, 950)
    clock.block(1500)
    clock.turn(() => deadlines.done(answered!))
    expect([answered!.expiredAt, silent!.expiredAt]).toEqual([undefined, 2450])
  })

  it.each([0, 10, 450, 899])('charge nobody with that time, whenever it was: after %i ms', (before) => {
    const { clock, tasks } = startTasks(1)
    pass(clock, before)
    clock.block(5000)
    clock.turn()
    expect(tasks[0]!.expiredAt).toBeUndefined()
    // It is known to a tenth how much of its time it had had.
    pass(clock, 1000 - before - 101)
    expect(tasks[0]!.expiredAt).toBeUndefined()
    pass(clock, 210)
    expect(tasks[0]!.expiredAt).toBeGreaterThanOrEqual(5900)
  })

  it('still come, however often it is blocked', () => {
    const { clock, tasks } = startTasks(1)
    let turns = 0
    while (tasks[0]!.expiredAt === undefined) {
      clock.block(700)
      clock.turn()
      expect(++turns).toBeLessThanOrEqual(11)
    }
  })

  it('come in the order of starting, also for those that started meanwhile', () => {
    const { clock, start, tasks } = startTasks(1)
    const order: Task[] = []
    clock.block(690)
    tasks.push(start())
    clock.block(10)
    clock.turn()
    tasks.push(start())
    for (const task of tasks) task.expire = () => void order.push(task)
    pass(clock, 950)
    expect(order).toEqual([tasks[0]])
    pass(clock, 200)
    expect(order).toEqual(tasks)
  })

  it('leave nothing behind when they are closed while arrivals are read', () => {
    const { clock, deadlines, tasks } = startTasks(1)
    pass(clock, 900)
    clock.block(100)
    clock.turn(() => deadlines.close())
    expect([tasks[0]!.expiredAt, clock.alarms]).toEqual([undefined, []])
  })
})
