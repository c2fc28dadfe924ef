import { describe, expect, it } from 'vitest'
import { HostQueue, PendingRequest } from '../../src/frontier/host-queue.js'
import { firstCome } from '../../src/frontier/selection.js'
import { Workbench } from '../../src/frontier/workbench.js'

const workbench = new Workbench({ delayMs: 0, connections: 1, growAt: 1 }, firstCome)
const host = workbench.host('a.example')

/** `b1` has the name b and the priority 1. */
function pending(name: string): PendingRequest {
  const priority = Number(name.slice(1))
  const url = `https://a.example/${name}`
  const request = { url, host: 'a.example', depth: 0, priority, attempt: 0, redirects: 0, parent: undefined }
  return new PendingRequest(request, host, 0)
}

function drain(queue: HostQueue, now = 0): string {
  const names: string[] = []
  for (let next = queue.take(now); next !== undefined; next = queue.take(now)) names.push(next.url.slice(-2))
  return names.join(' ')
}

describe('HostQueue', () => {
  const cases: [pushed: string, again: string, expected: string][] = [
    ['', '', ''],
    ['a0 b0 c0', '', 'a0 b0 c0'],
    ['a0 b1 c2', '', 'c2 b1 a0'],
    ['a2 b1 c0', '', 'a2 b1 c0'],
    ['a1 b0 c1 d0 e2 f1', '', 'e2 a1 c1 f1 b0 d0'],
    ['a0 b0', 'x0', 'x0 a0 b0'],
    ['a0 b0', 'x0 y0 z0', 'x0 y0 z0 a0 b0'],
    ['a1 b0', 'x0', 'a1 x0 b0'],
    ['a0', 'x1', 'x1 a0'],
    ['', 'x0 y1', 'y1 x0'],
  ]
  it.for(cases)('takes %o, then %o again, and gives %o', ([pushed, again, expected]) => {
    const queue = new HostQueue()
    for (const name of pushed.split(' ').filter(Boolean)) queue.push(pending(name))
    for (const name of again.split(' ').filter(Boolean)) queue.pushAgain(pending(name))
    expect(drain(queue)).toBe(expected)
    expect([queue.size, queue.dueAt]).toEqual([0, Number.POSITIVE_INFINITY])
  })

  it('moves to another queue as it is', () => {
    const [from, to, same] = [new HostQueue(), new HostQueue(), new HostQueue()]
    for (const queue of [from, same]) {
      for (const name of ['a0', 'b1', 'c0']) queue.push(pending(name))
      for (const name of ['x0', 'y1', 'z0']) queue.pushAgain(pending(name))
      for (const [i, name] of ['l0', 'm0', 'n1', 'o0'].entries())
        queue.pushLater(pending(name), [30, 10, 20, 10][i]!)
    }
    from.drain((request, again) => to.put(request, again))
    expect([from.size, from.laterCount, from.dueAt]).toEqual([0, 0, Number.POSITIVE_INFINITY])
    expect([to.size, to.laterCount]).toEqual([10, 4])
    for (const queue of [to, same]) {
      queue.push(pending('d0'))
      queue.pushAgain(pending('w0'))
    }
    for (const now of [0, 10, 25]) expect(drain(to, now)).toBe(drain(same, now))
    expect([to.size, to.dueAt]).toEqual([1, 30])
    from.push(pending('a0'))
    expect(drain(from)).toBe('a0')
  })

  it('takes in behind those that wait again, also once these are gone', () => {
    const queue = new HostQueue()
    queue.pushAgain(pending('x0'))
    queue.push(pending('a0'))
    expect(queue.take(0)?.url).toMatch('x0')
    queue.push(pending('b0'))
    queue.pushAgain(pending('y0'))
    expect(drain(queue)).toBe('y0 a0 b0')
  })

  it('keeps back what has a time of its own', () => {
    const queue = new HostQueue()
    queue.pushLater(pending('z0'), 30)
    queue.pushLater(pending('x0'), 10)
    queue.pushLater(pending('y1'), 20)
    expect([queue.size, queue.dueAt, queue.take(9)]).toEqual([3, 10, undefined])
    queue.push(pending('a0'))
    expect(queue.dueAt).toBe(0)
    expect(drain(queue, 20)).toBe('y1 x0 a0')
    expect([queue.size, queue.dueAt]).toEqual([1, 30])
  })

  it('lets those that are due longest go first', () => {
    const queue = new HostQueue()
    queue.push(pending('a0'))
    for (const [name, at] of [
      ['z0', 30],
      ['x0', 10],
      ['y0', 20],
    ] as const)
      queue.pushLater(pending(name), at)
    expect(queue.take(25)?.url).toMatch('x0')
    expect(drain(queue, 30)).toBe('y0 z0 a0')
  })
})
