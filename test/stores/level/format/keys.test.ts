/** The order of keys is the order in which a host hands out, and a host's keys never lie among another's. */

import { describe, expect, test } from 'vitest'
import { HostQueue, PendingRequest } from '../../../../src/frontier/host-queue.js'
import type { Host } from '../../../../src/frontier/workbench.js'
import {
  duePrefix,
  entryKey,
  entryOf,
  fromOrdered,
  laterPlaceOf,
  ordered,
  partitionText,
  placeOf,
  turnIn,
  wakeKey,
} from '../../../../src/stores/level/format/keys.js'
import { seededRandom } from '../../../../src/time.js'
import { requestFor } from '../../../fetch/support.js'

/** As LevelDB compares: byte by byte, not as JavaScript does. */
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

const random = seededRandom(7)

const PRIORITIES = [
  0, 0, 0, 1, -1, 0.5, -0.5, 1e-300, -1e-300, 1e300, -1e300, 3, 255, 256, -255, -256, 0.1, 0.2,
]

describe('places', () => {
  test('come in the order in which a queue hands out, for any priorities', () => {
    for (let round = 0; round < 50; round++) {
      const queue = new HostQueue()
      const places = new Map<PendingRequest, string>()
      for (let seq = 0; seq < 40; seq++) {
        const any = PRIORITIES[Math.floor(random.next() * PRIORITIES.length)]!
        const priority = random.next() < 0.3 ? (random.next() - 0.5) * 10 ** (random.next() * 12 - 6) : any
        const pending = new PendingRequest(
          { ...requestFor(`https://a.example/${seq}`), priority },
          {} as Host,
          0,
        )
        const isAgain = random.next() < 0.3
        if (isAgain) queue.pushAgain(pending)
        else queue.push(pending)
        places.set(pending, placeOf(priority, isAgain, seq * 1000))
      }
      const handedOut: string[] = []
      for (let next = queue.take(0); next !== undefined; next = queue.take(0))
        handedOut.push(places.get(next)!)
      expect(handedOut).toEqual([...places.values()].sort(byBytes))
    }
  })

  test('minus zero is zero, and nothing but a number needs a place', () => {
    expect(placeOf(-0, false, 1)).toBe(placeOf(0, false, 1))
    expect(byBytes(placeOf(Number.POSITIVE_INFINITY, false, 1), placeOf(1e308, false, 1))).toBeLessThan(0)
    expect(byBytes(placeOf(Number.NEGATIVE_INFINITY, false, 1), placeOf(-1e308, false, 1))).toBeGreaterThan(0)
  })

  test('of requests with a time of their own come by time, then by arrival', () => {
    const places = [
      laterPlaceOf(0, 5),
      laterPlaceOf(999, 4),
      laterPlaceOf(1_700_000_000_000, 2),
      laterPlaceOf(1_700_000_000_000.9, 3),
      laterPlaceOf(1_700_000_000_001, 1),
    ]
    expect(places.toSorted(byBytes)).toEqual(places)
  })
})

test('numbers are in order, and read as they were written', () => {
  const numbers = [0, 1, 35, 36, 1295, 1296, 2 ** 31, 2 ** 32, 1_700_000_000_000, 99_999_999_999_999]
  expect(numbers.map(ordered).toSorted(byBytes)).toEqual(numbers.map(ordered))
  expect(numbers.map(ordered).map(fromOrdered)).toEqual(numbers)
  expect(new Set(numbers.map((number) => ordered(number).length)).size).toBe(1)
  expect(ordered(-5)).toBe(ordered(0))
})

test("no host's requests lie between another's", () => {
  const hosts = [
    'a.example',
    'a.example:80',
    'a.example-b',
    'a.exampl',
    'a.example.org',
    '[::1]',
    '[::1]:81',
    '127.0.0.1',
    'xn--n3h.example',
  ]
  const keys = hosts.flatMap((host) => {
    return [placeOf(9, true, 0), placeOf(0, false, 1), placeOf(-9, false, 2 ** 40)].map((place) => ({
      host,
      key: duePrefix(partitionText(3), host) + place,
    }))
  })
  const order = keys.toSorted((a, b) => byBytes(a.key, b.key)).map(({ host }) => host)
  const changes = order.filter((host, i) => host !== order[i - 1])
  expect(changes).toHaveLength(hosts.length)
})

test.for(['a.example', 'a.example:8080', '[::1]:81', '127.0.0.1'])(
  'an entry of %s is read as it was written',
  (host) => {
    const due = 1_700_000_000_000
    expect(entryOf(entryKey('00ff', due, host))).toEqual({ due, host, wakes: false })
    expect(entryOf(wakeKey('00ff', due, host))).toEqual({ due, host, wakes: true })
    const key = entryKey('00ff', due, host, 70_000)
    expect([entryOf(key), turnIn(key)]).toEqual([{ due, host, wakes: false }, 70_000])
    const early = `q00ff${ordered(due)}${host}`
    expect([entryOf(early), turnIn(early)]).toEqual([{ due, host, wakes: false }, 0])
    expect(entryOf(`${early}\0`)).toEqual({ due, host, wakes: true })
  },
)

test('entries of hosts that are due at one instant are in the order of their turns', () => {
  const turns = [1, 2, 35, 36, 37, 70_000, 2 ** 40]
  const keys = turns.map((turn, i) => entryKey('0001', 1000, `${'zyxwvut'[i]}.example`, turn))
  expect(keys.toSorted(byBytes)).toEqual(keys)
  expect(keys.every((key) => byBytes(key, entryKey('0001', 1001, 'a.example', 0)) < 0)).toBe(true)
})

test('all partitions have names of one length, in order', () => {
  const partitions = [0, 1, 15, 16, 255, 4096, 65_535]
  expect(partitions.map(partitionText).toSorted(byBytes)).toEqual(partitions.map(partitionText))
  expect(new Set(partitions.map((partition) => partitionText(partition).length))).toEqual(new Set([4]))
})
