import { virtualClock } from 'kumo/sim'
import { describe, expect, it } from 'vitest'
import { Deadlines, Expiring } from '../../src/engine/deadlines.js'

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
