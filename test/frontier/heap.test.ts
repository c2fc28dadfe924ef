import { describe, expect, it } from 'vitest'
import { Heap } from '../../src/frontier/heap.js'
import { seededRandom } from '../../src/time.js'

function drain<T>(heap: Heap<T>): T[] {
  const items: T[] = []
  while (heap.size > 0) items.push(heap.pop()!)
  return items
}

describe('Heap', () => {
  it('is empty at first', () => {
    const heap = new Heap<string>()
    expect([heap.size, heap.topKey, heap.top, heap.pop()]).toEqual([
      0,
      Number.POSITIVE_INFINITY,
      undefined,
      undefined,
    ])
  })

  const orders: [string, number[]][] = [
    ['ascending', [1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ['descending', [9, 8, 7, 6, 5, 4, 3, 2, 1]],
    ['with infinities', [3, Number.POSITIVE_INFINITY, -1, Number.NEGATIVE_INFINITY, 0]],
    ['with fractions', [0.3, 0.1, 0.2, 1e-9, 1e15 + 0.5]],
  ]
  it.for(orders)('gives keys back in order: %s', ([, keys]) => {
    const heap = new Heap<number>()
    for (const key of keys) heap.push(key, key)
    expect(heap.topKey).toBe(Math.min(...keys))
    expect(drain(heap)).toEqual(keys.toSorted((a, b) => a - b))
  })

  it('gives equal keys back in order of arrival, through any number of pops', () => {
    const heap = new Heap<number>()
    const random = seededRandom(1)
    const model: { item: number; key: number }[] = []
    const popped: number[] = []
    const expected: number[] = []
    for (let item = 0; item < 20_000; item++) {
      const key = Math.floor(random.next() * 10)
      heap.push(item, key)
      model.push({ item, key })
      if (random.next() < 0.6) continue
      let best = 0
      for (let i = 1; i < model.length; i++) if (model[i]!.key < model[best]!.key) best = i
      expected.push(model.splice(best, 1)[0]!.item)
      popped.push(heap.pop()!)
      // The model looks at everything it holds, so it is kept short.
      while (model.length > 300) {
        const lowest = model.reduce((low, { key: k }) => Math.min(low, k), 99)
        expected.push(
          model.splice(
            model.findIndex(({ key: k }) => k === lowest),
            1,
          )[0]!.item,
        )
        popped.push(heap.pop()!)
      }
    }
    expect(popped).toEqual(expected)
  })

  it('never gives two entries the same ticket', () => {
    const heap = new Heap<string>()
    const tickets = new Set<number>()
    for (let i = 0; i < 100; i++) {
      tickets.add(heap.push('a', i % 3))
      if (i % 2) heap.pop()
    }
    expect(tickets.size).toBe(100)
  })

  it.for([0, 1, 2, 5, 6, 21, 100, 1000])('keeps what is wanted, in order, of %i entries', (count) => {
    const heap = new Heap<number>()
    const random = seededRandom(count)
    const keys = Array.from({ length: count }, () => Math.floor(random.next() * 20))
    const wantedTickets = new Set<number>()
    for (const [i, key] of keys.entries()) {
      const ticket = heap.push(i, key)
      if (i % 3 === 0) wantedTickets.add(ticket)
    }
    heap.retain((item, ticket) => item % 3 === 0 && wantedTickets.has(ticket))
    const wanted = keys.map((key, item) => ({ key, item })).filter(({ item }) => item % 3 === 0)
    expect(heap.size).toBe(wanted.length)
    expect(drain(heap)).toEqual(wanted.toSorted((a, b) => a.key - b.key).map(({ item }) => item))
  })
})

describe('upTo', () => {
  it('counts the keys that are not larger, and finds the smallest that is', () => {
    const random = seededRandom(5)
    for (let size = 0; size < 60; size++) {
      const heap = new Heap<number>()
      const keys = Array.from({ length: size }, () => Math.floor(random.next() * 20))
      for (const key of keys) heap.push(key, key)
      for (let key = -1; key <= 20; key++) {
        const next = Math.min(Number.POSITIVE_INFINITY, ...keys.filter((each) => each > key))
        expect(heap.upTo(key)).toEqual({ count: keys.filter((each) => each <= key).length, next })
      }
    }
  })
})

describe('tickets of one’s own', () => {
  it('decide among equal keys', () => {
    const random = seededRandom(6)
    const heap = new Heap<number>()
    const tickets = Array.from({ length: 200 }, (_, i) => i + 1).sort(() => random.next() - 0.5)
    for (const ticket of tickets) heap.push(ticket, ticket % 3, ticket)
    const met = Array.from({ length: 200 }, () => heap.pop()!)
    expect(met).toEqual(tickets.toSorted((a, b) => (a % 3) - (b % 3) || a - b))
  })
})
