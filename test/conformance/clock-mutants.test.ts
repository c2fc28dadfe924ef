import { describe, expect, it } from 'vitest'
import { type ClockUnderTest, clockSuite, randomSuite } from '../../src/conformance/clock.js'
import { type Clock, type Random, seededRandom } from '../../src/time.js'
import { failuresOf } from './collect.js'

interface Waiting {
  at: number
  callback: () => void
}

/** The smallest clock whose time moves only when driven. */
function drivenClock(change: (sound: Clock, waiting: Set<Waiting>) => Partial<Clock> = () => ({})) {
  let now = 1_700_000_000_000
  const waiting = new Set<Waiting>()
  const sound: Clock = {
    now: () => now,
    wakeAt(at, callback) {
      const entry = { at, callback }
      waiting.add(entry)
      return { cancel: () => void waiting.delete(entry) }
    },
  }
  const pass = (ms: number) => {
    const until = now + ms
    for (;;) {
      const [next] = [...waiting].sort((a, b) => a.at - b.at)
      if (!next || next.at > until) break
      waiting.delete(next)
      now = Math.max(now, next.at)
      next.callback()
    }
    now = until
  }
  return (): ClockUnderTest => ({ clock: { ...sound, ...change(sound, waiting) }, pass })
}

const CLOCKS: Record<string, () => ClockUnderTest> = {
  'goes back': drivenClock((sound) => {
    let reads = 0
    return { now: () => sound.now() - (reads++ % 500 === 499 ? 1 : 0) }
  }),
  'stands still': drivenClock(() => ({ now: () => 5 })),
  'wakes a millisecond early': drivenClock((sound) => ({
    wakeAt: (at, callback) => sound.wakeAt(at - 1, callback),
  })),
  'rounds the instant down': drivenClock((sound) => ({
    wakeAt: (at, callback) => sound.wakeAt(Math.floor(at), callback),
  })),
  'calls at once when the instant is past': drivenClock((sound) => ({
    wakeAt(at, callback) {
      if (at > sound.now()) return sound.wakeAt(at, callback)
      callback()
      return { cancel() {} }
    },
  })),
  'forgets instants in the past': drivenClock((sound) => ({
    wakeAt: (at, callback) => (at < sound.now() ? { cancel() {} } : sound.wakeAt(at, callback)),
  })),
  'cannot cancel': drivenClock((sound) => ({
    wakeAt: (at, callback) => ({ ...sound.wakeAt(at, callback), cancel() {} }),
  })),
  'calls twice': drivenClock((sound) => ({
    wakeAt(at, callback) {
      sound.wakeAt(at + 5, callback)
      return sound.wakeAt(at, callback)
    },
  })),
  'takes 32 bits of a delay': drivenClock((sound) => ({
    wakeAt: (at, callback) => sound.wakeAt(at - sound.now() > 2 ** 31 ? sound.now() : at, callback),
  })),
  'calls in the order of asking': drivenClock((sound) => {
    let last = 0
    return { wakeAt: (at, callback) => sound.wakeAt((last = Math.max(last, at)), callback) }
  }),
  'cancels all when one is cancelled': drivenClock((sound, waiting) => ({
    wakeAt: (at, callback) => ({ ...sound.wakeAt(at, callback), cancel: () => waiting.clear() }),
  })),
  'reports percent': drivenClock(() => ({ busyShare: () => 40 })),
}

/** Each mutant makes one from a sound source. */
const RANDOMS: Record<string, (sound: Random) => Random> = {
  'always draws the same': () => ({ next: () => 0.5 }),
  'can draw 1': (sound) => ({ next: () => Math.round(sound.next() * 10_000) / 10_000 }),
  'can go below 0': (sound) => ({ next: () => sound.next() - 0.0001 }),
  'draws small numbers more often': (sound) => ({ next: () => sound.next() ** 1.1 }),
  'avoids the ends': (sound) => ({ next: () => 0.02 + sound.next() * 0.96 }),
  alternates: (sound) => {
    let high = false
    return { next: () => (sound.next() + ((high = !high) ? 1 : 0)) / 2 }
  },
  counts: () => {
    let n = 0
    return { next: () => (n++ % 1000) / 1000 }
  },
}

const SEEDED: Record<string, (seed: number) => Random> = {
  'ignores its seed': () => seededRandom(1),
  'has one state for all': (
    (shared) => () =>
      shared
  )(seededRandom(1)),
  'starts alike for neighbouring seeds': (seed) => {
    const sound = seededRandom(0)
    return { next: () => (sound.next() + seed / 10_000) % 1 }
  },
  'brings chance of its own': () => ({ next: Math.random }),
}

describe('the suite of clocks', () => {
  it('passes a clock that is driven', async () => {
    expect(await failuresOf((it) => clockSuite({ it, create: () => drivenClock()() }))).toEqual([])
  })

  it.for(Object.entries(CLOCKS))('notices one that %s', async ([, create]) => {
    expect(await failuresOf((it) => clockSuite({ it, create }))).not.toEqual([])
  })
})

describe('the suite of chance', () => {
  it.for(Object.entries(RANDOMS))('notices a source that %s', async ([, mutate]) => {
    const create = () => mutate(seededRandom(1))
    expect(await failuresOf((it) => randomSuite({ it, create }))).not.toEqual([])
  })

  it.for(Object.entries(SEEDED))('notices a seeded source that %s', async ([, seeded]) => {
    const create = () => seededRandom(1)
    expect(await failuresOf((it) => randomSuite({ it, create, seeded }))).not.toEqual([])
  })
})
