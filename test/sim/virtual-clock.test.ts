import { describe, expect, it } from 'vitest'
import { clockSuite } from '../../src/conformance/clock.js'
import { virtualClock } from '../../src/sim/index.js'
import { seededRandom } from '../../src/time.js'

const SHORT_PATIENCE = { patienceMs: 20 }

describe('virtualClock', () => {
  clockSuite({
    it,
    create: () => {
      const clock = virtualClock()
      return { clock, pass: (ms) => clock.advance(ms) }
    },
  })

  it('stands still unless it is driven', async () => {
    const clock = virtualClock(1000)
    let called = false
    clock.wakeAt(1001, () => {
      called = true
    })
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(clock.now()).toBe(1000)
    expect(called).toBe(false)
    expect(clock.timers).toBe(1)
  })

  it('jumps over a year at once', async () => {
    const clock = virtualClock(0)
    const year = 365 * 86_400_000
    await clock.run(clock.sleep(year), { withinMs: year })
    expect(clock.now()).toBe(year)
  })

  it('returns the value of the promise, and stops where it was settled', async () => {
    const clock = virtualClock(0)
    const later = clock.sleep(100)
    const value = await clock.run(clock.sleep(30).then(() => 'done'))
    expect([value, clock.now(), clock.timers]).toEqual(['done', 30, 1])
    await clock.run(later)
    expect(clock.now()).toBe(100)
  })

  it('rejects as the promise does', async () => {
    const clock = virtualClock()
    const rejected = clock.sleep(5).then(() => Promise.reject(new Error('of the promise')))
    await expect(clock.run(rejected)).rejects.toThrow('of the promise')
  })

  it('rejects with what a callback throws', async () => {
    const clock = virtualClock()
    clock.wakeAt(0, () => {
      throw new Error('of the callback')
    })
    await expect(clock.run(clock.sleep(5))).rejects.toThrow('of the callback')
    await clock.advance(5)
  })

  it('lets everything that follows from a timer happen before the next one', async () => {
    const clock = virtualClock(0)
    const order: string[] = []
    const chain = async (name: string, at: number) => {
      await new Promise<void>((resolve) => void clock.wakeAt(at, resolve))
      for (let i = 0; i < 3; i++) {
        order.push(`${name}${i} at ${clock.now()}`)
        await null
      }
    }
    await clock.run(Promise.all([chain('a', 5), chain('b', 5), chain('c', 6)]))
    expect(order).toEqual([
      ...['a0 at 5', 'a1 at 5', 'a2 at 5'],
      ...['b0 at 5', 'b1 at 5', 'b2 at 5'],
      ...['c0 at 6', 'c1 at 6', 'c2 at 6'],
    ])
  })

  it('calls equal instants in the order in which they were set, past ones included', async () => {
    const clock = virtualClock(100)
    const order: string[] = []
    clock.wakeAt(100, () => order.push('now'))
    clock.wakeAt(7, () => order.push('past'))
    clock.wakeAt(101, () => order.push('later'))
    clock.wakeAt(100, () => order.push('now again'))
    await clock.advance(1)
    expect(order).toEqual(['now', 'past', 'now again', 'later'])
  })

  it('waits for real work while no timer is set', async () => {
    const clock = virtualClock()
    await clock.run(new Promise((resolve) => setTimeout(resolve, 50)))
  })

  it('names a deadlock', async () => {
    const clock = virtualClock(0)
    const never = clock.sleep(250).then(() => new Promise(() => {}))
    await expect(clock.run(never, SHORT_PATIENCE)).rejects.toThrow(/deadlock.*250 virtual ms/)
  })

  it('gives up at the bound', async () => {
    const clock = virtualClock(0)
    const tick = () => void clock.wakeAt(clock.now() + 1000, tick)
    tick()
    await expect(clock.run(new Promise(() => {}), { withinMs: 60_000 })).rejects.toThrow(/60000 ms/)
    expect(clock.now()).toBe(60_000)
  })

  it('names a loop of promises that never lets time go by', async () => {
    const clock = virtualClock()
    const spin = async () => {
      while (clock.now() > 0) await null
    }
    await expect(clock.run(spin())).rejects.toThrow('promise loop')
  })

  it('refuses a second driver', async () => {
    const clock = virtualClock()
    const first = clock.run(clock.sleep(10))
    await expect(clock.advance(5)).rejects.toThrow('already being driven')
    await first
  })

  it('keeps its order through any mix of setting and cancelling', async () => {
    const random = seededRandom(5)
    const clock = virtualClock(0)
    const rung: number[] = []
    const live = new Map<number, { at: number; cancel(): void }>()
    for (let id = 0; id < 5000; id++) {
      const at = Math.floor(random.next() * 500)
      const { cancel } = boundTimer(clock.wakeAt(at, () => rung.push(id)))
      live.set(id, { at, cancel })
      const victim = Math.floor(random.next() * (id + 1))
      if (random.next() < 0.6) {
        live.get(victim)?.cancel()
        live.delete(victim)
      }
    }
    expect(clock.timers).toBe(live.size)
    await clock.advance(500)
    const inOrder = [...live].sort(([a, x], [b, y]) => x.at - y.at || a - b).map(([id]) => id)
    expect(rung).toEqual(inOrder)
    expect(clock.timers).toBe(0)
  })
})

function boundTimer(timer: { cancel(): void }): { cancel(): void } {
  return { cancel: () => timer.cancel() }
}
