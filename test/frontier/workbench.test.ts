import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Politeness, SelectionPolicy } from '../../src/frontier/contract.js'
import { Heap } from '../../src/frontier/heap.js'
import { PendingRequest } from '../../src/frontier/host-queue.js'
import { firstCome } from '../../src/frontier/selection.js'
import { type Host, Workbench } from '../../src/frontier/workbench.js'

const ORDINARY: Politeness = { delayMs: 100, connections: 1, growAt: 1000 }

function bench(politeness: Partial<Politeness> = {}, policy: SelectionPolicy = firstCome) {
  const workbench = new Workbench({ ...ORDINARY, ...politeness }, policy)
  return {
    workbench,
    add(name: string, count = 1, now = 0): Host {
      const host = workbench.host(name)
      workbench.activate(host)
      const url = `https://${name}/`
      const request = { url, host: name, depth: 0, priority: 0, attempt: 0, redirects: 0, parent: undefined }
      for (let i = 0; i < count; i++) host.queue.push(new PendingRequest(request, host, 0))
      workbench.place(host, now)
      return host
    },
    /** Visits as the frontier does: acquire, take, place. */
    start(now: number): string | undefined {
      const host = workbench.acquire(now)
      if (host === undefined) return undefined
      host.queue.take(now)
      workbench.place(host, now)
      return host.host
    },
    end(name: string, visitedAt: number | undefined, now = visitedAt ?? 0): void {
      const host = workbench.host(name)
      workbench.release(host, visitedAt)
      workbench.deactivate(host)
      workbench.place(host, now)
    },
  }
}

/** Every queue that something is pushed into during a test. */
function watchHeaps(): ReadonlySet<Heap<unknown>> {
  const heaps = new Set<Heap<unknown>>()
  const { push } = Heap.prototype
  const spy = vi.spyOn(Heap.prototype, 'push').mockImplementation(function (this: Heap<unknown>, ...entry) {
    heaps.add(this)
    return push.apply(this, entry)
  })
  onTestFinished(() => spy.mockRestore())
  return heaps
}

/** Entries of all queues, stale ones included. */
function entriesIn(heaps: ReadonlySet<Heap<unknown>>): number {
  return [...heaps].reduce((sum, { size }) => sum + size, 0)
}

describe('Workbench', () => {
  it('hands hosts out in the order of their readiness', () => {
    const { add, start, end } = bench()
    for (const name of ['a', 'b', 'c']) add(name, 2)
    expect([start(0), start(0), start(0), start(0)]).toEqual(['a', 'b', 'c', undefined])
    end('b', 10)
    end('a', 20)
    end('c', 5)
    expect([start(200), start(200), start(200)]).toEqual(['c', 'b', 'a'])
  })

  it('asks the policy who of the ready goes first', () => {
    const { add, start } = bench({}, (host) => host.pending)
    add('large', 9)
    add('small', 1)
    add('middle', 5)
    expect([start(0), start(0), start(0)]).toEqual(['small', 'middle', 'large'])
  })

  it('knows when something is due', () => {
    const { workbench, add, start, end } = bench()
    expect(workbench.nextDue()).toBe(Number.POSITIVE_INFINITY)
    add('a', 2, 7)
    expect(workbench.nextDue()).toBe(7)
    start(7)
    expect(workbench.nextDue()).toBe(Number.POSITIVE_INFINITY)
    end('a', 50)
    expect(workbench.nextDue()).toBe(150)
  })

  it('does not find a host whose connections are all out, even after many placings', () => {
    const { workbench, add, start } = bench()
    const host = add('a', 5)
    expect(start(0)).toBe('a')
    for (let now = 0; now < 1000; now += 100) workbench.place(host, now)
    expect(start(1000)).toBeUndefined()
  })

  it('moves a ready host back when it is told to wait', () => {
    const { workbench, add, start } = bench({ connections: 4, growAt: 2 })
    const host = add('a', 20)
    expect(start(0)).toBe('a')
    host.notBefore = 500
    workbench.place(host, 0)
    expect(start(499)).toBeUndefined()
    expect(workbench.nextDue()).toBe(500)
    expect(start(500)).toBe('a')
  })

  it('remembers an idle host for its pause and no longer', () => {
    const { workbench, add, start, end } = bench()
    add('a')
    add('b', 5)
    start(0)
    end('a', 10)
    expect([workbench.knownHosts, workbench.activeHosts]).toEqual([2, 1])
    start(109)
    expect(workbench.knownHosts).toBe(2)
    start(110)
    expect([workbench.knownHosts, workbench.activeHosts]).toEqual([1, 1])
  })

  it('forgets a host at once that owes no pause', () => {
    const { workbench, add, start, end } = bench({ delayMs: 0 })
    add('a')
    start(0)
    end('a', undefined)
    expect([workbench.knownHosts, workbench.activeHosts]).toEqual([0, 0])
  })

  it('remembers what a forgotten host had asked for, until it takes that back', () => {
    const { workbench, add, start, end } = bench()
    add('a').delayMs = 700
    start(0)
    end('a', 0)
    start(700)
    expect(workbench.knownHosts).toBe(0)
    expect(add('a', 1, 700).delayMs).toBe(700)
    workbench.host('a').delayMs = 50
    start(700)
    end('a', 700)
    start(800)
    expect(workbench.host('a').delayMs).toBe(0)
  })

  it('lets hosts leave, with and without requests, and keeps nothing of them', () => {
    const { workbench, add, start, end } = bench()
    for (const name of ['gone ready', 'gone idle', 'gone waiting', 'stays ready', 'stays idle']) {
      add(name, name.endsWith('waiting') ? 2 : 1)
    }
    for (let i = 0; i < 5; i++) start(0)
    for (const name of ['gone idle', 'gone waiting', 'stays idle', 'stays ready', 'gone ready']) end(name, 0)
    for (const name of ['gone ready', 'stays ready']) add(name, 1, 1000)
    const left = workbench.removeWhere(({ host }) => host.startsWith('gone'))
    expect(left.map(({ host }) => host).sort()).toEqual(['gone idle', 'gone ready', 'gone waiting'])
    expect([workbench.knownHosts, workbench.activeHosts]).toEqual([2, 1])
    expect([...workbench.all()].map(({ host }) => host)).toEqual(['stays ready', 'stays idle'])
    expect([start(2000), start(2000)]).toEqual(['stays ready', undefined])
    expect(workbench.host('gone waiting')).not.toBe(left.find(({ host }) => host === 'gone waiting'))
  })

  it('does not fill up with entries of hosts that have left', () => {
    const heaps = watchHeaps()
    const { workbench, add } = bench()
    add('stays')
    for (let i = 0; i < 20_000; i++) {
      add('comes and goes', 1, i)
      workbench.removeWhere(({ host }) => host !== 'stays')
    }
    expect([workbench.knownHosts, workbench.activeHosts]).toEqual([1, 1])
    expect(entriesIn(heaps)).toBeLessThan(2000)
  })

  it('keeps no more pauses than connections', () => {
    const { workbench, add, start, end } = bench({ connections: 3, growAt: 1 })
    const host = add('a', 300)
    for (let now = 0; now < 9000; now += 70) {
      while (start(now) !== undefined);
      while (host.acquired > 0) end('a', now + host.acquired)
      expect(host.resting.length).toBeLessThanOrEqual(3)
      expect(host.resting).toEqual(host.resting.toSorted((a, b) => a - b))
    }
    expect(workbench.knownHosts).toBe(1)
  })

  it('does not fill up with entries of the past', () => {
    const heaps = watchHeaps()
    const { workbench, add, start, end } = bench({ delayMs: 0 })
    const host = add('a')
    const later = new PendingRequest({ ...host.queue.take(0)!, host: 'a' }, host, 0)
    host.queue.pushLater(later, 1e12)
    for (let now = 1; now < 20_000; now++) {
      add('a', 1, now)
      expect(start(now)).toBe('a')
      end('a', now)
    }
    expect(workbench.nextDue()).toBe(1e12)
    expect(entriesIn(heaps)).toBeLessThan(2000)
  })
})
