import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { clockSuite, randomSuite } from '../src/conformance/clock.js'
import { LATE, parseDuration, seededRandom, systemClock, systemRandom, within } from '../src/time.js'

describe('parseDuration', () => {
  const cases: [unknown, number | undefined][] = [
    [0, 0],
    [250, 250],
    [0.5, 0.5],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    [-1, undefined],
    [Number.NaN, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    ['250ms', 250],
    ['5s', 5000],
    ['1.5s', 1500],
    ['2m', 120_000],
    ['2min', 120_000],
    ['12h', 43_200_000],
    ['7d', 604_800_000],
    ['0s', 0],
    [' 5 s ', 5000],
    ['5', undefined],
    ['', undefined],
    ['s', undefined],
    ['-5s', undefined],
    ['+5s', undefined],
    ['.5s', undefined],
    ['5.s', undefined],
    ['1e3ms', undefined],
    ['5S', undefined],
    ['5w', undefined],
    ['5 seconds', undefined],
    ['5s5s', undefined],
    ['1h 30m', undefined],
    ['٥s', undefined],
    [undefined, undefined],
    [null, undefined],
    [true, undefined],
    [5n, undefined],
    [['5s'], undefined],
    [{}, undefined],
  ]

  it.for(cases)('reads %o as %o', ([value, ms]) => {
    expect(parseDuration(value)).toBe(ms)
  })
})

describe('systemClock', () => {
  clockSuite({
    it,
    create: () => {
      const clock = systemClock()
      // A millisecond more, because setTimeout may come early by the part of one that it does not see.
      const pass = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms + 1))
      return { clock, pass }
    },
  })

  it('counts from the epoch', () => {
    const apart = systemClock().now() - Date.now()
    expect(Math.abs(apart)).toBeLessThan(60_000)
  })

  it('agrees with another clock of the same process', () => {
    const [a, b] = [systemClock(), systemClock()]
    const first = a.now()
    const second = b.now()
    expect(second).toBeGreaterThanOrEqual(first)
    expect(a.now()).toBeGreaterThanOrEqual(second)
  })

  it('knows when what has arrived was handed over, though the loop was blocked and timers come first', async () => {
    const clock = systemClock()
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const accepted = once(server, 'connection')
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const [peer] = (await accepted) as [Socket]
    if (client.connecting) await once(client, 'connect')
    let isRead = false
    client.once('data', () => {
      isRead = true
    })
    const seen = new Promise<boolean[]>((resolve) => {
      clock.wakeAt(clock.now() + 20, () => {
        const before = isRead
        clock.afterArrivals!(() => resolve([before, isRead]))
      })
    })
    peer.write('news')
    const end = performance.now() + 100
    while (performance.now() < end);
    expect(await seen).toEqual([false, true])
    const cancelled = clock.afterArrivals!(() => expect.unreachable())
    cancelled.cancel()
    for (const each of [client, peer]) each.destroy()
    server.close()
    await once(server, 'close')
  })

  it('tells a busy thread from an idle one', async () => {
    const clock = systemClock()
    await new Promise((resolve) => setTimeout(resolve, 100))
    const idle = clock.busyShare!()!
    for (const until = clock.now() + 100; clock.now() < until; );
    // The share is counted by the turns of the event loop, so it must turn once.
    await new Promise((resolve) => setImmediate(resolve))
    expect(clock.busyShare!()!).toBeGreaterThan(idle)
  })
})

describe('within', () => {
  const clock = systemClock()
  const never = new Promise<never>(() => {})
  const doneAfter = (ms: number) => new Promise<string>((resolve) => void setTimeout(resolve, ms, 'done'))

  it('gives the value that comes in time', async () => {
    expect(await within(clock, 5000, doneAfter(5))).toBe('done')
    expect(await within(clock, Number.POSITIVE_INFINITY, doneAfter(5))).toBe('done')
  })

  it('says LATE when time is up, not before', async () => {
    const start = clock.now()
    expect(await within(clock, 20, never)).toBe(LATE)
    expect(clock.now() - start).toBeGreaterThanOrEqual(20)
  })

  it('passes a rejection on, and ignores one that comes late', async () => {
    await expect(within(clock, 5000, Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    const late = doneAfter(30).then(() => Promise.reject(new Error('too late')))
    expect(await within(clock, 5, late)).toBe(LATE)
    await doneAfter(50)
  })

  it('leaves no timer behind', async () => {
    let waiting = 0
    const counting = {
      now: () => 0,
      wakeAt: () => {
        waiting++
        return { cancel: () => void waiting-- }
      },
    }
    await within(counting, 1000, Promise.resolve())
    await within(counting, 1000, Promise.reject(new Error('broken'))).catch(() => {})
    expect(waiting).toBe(0)
  })
})

describe('systemRandom', () => {
  randomSuite({ it, create: systemRandom })
})

describe('seededRandom', () => {
  randomSuite({ it, create: () => seededRandom(20_24), seeded: seededRandom })

  it('gives the same numbers on every machine', () => {
    const random = seededRandom(1)
    const drawn = Array.from({ length: 4 }, () => random.next() * 2 ** 32)
    expect(drawn).toMatchInlineSnapshot(`
      [
        287317652,
        3844763798,
        2725124882,
        3606935424,
      ]
    `)
  })
})
