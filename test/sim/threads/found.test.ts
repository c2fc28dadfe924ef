import type { MessagePort } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { AdmissionsInProgress } from '../../../src/engine/admission/in-progress.js'
import { VisitBudget } from '../../../src/engine/budget.js'
import type { PartitionSnapshot } from '../../../src/engine/partition-moves.js'
import { Tally } from '../../../src/engine/stats/tally.js'
import { DEFAULTS } from '../../../src/options/options.js'
import { OwnershipRegistry, OwnershipTable } from '../../../src/partition/ownership.js'
import { type VirtualClock, virtualClock } from '../../../src/sim/index.js'
import { seededRandom } from '../../../src/time.js'
import type { CrawlRequest } from '../../../src/types.js'
import { PortExchange, type PortExchangeOptions } from '../../../src/workers/exchange/port-exchange.js'
import type { ToWorker } from '../../../src/workers/messages.js'
import { Moves } from '../../../src/workers/moves.js'
import { budgetMemory, returnClaims, SharedBudget } from '../../../src/workers/shared-budget.js'
import { Delays, SimPort } from './ports.js'
import { SimThread } from './sim-thread.js'

/** Defects that crawls over simulated threads have brought to light, each in its smallest form. */

const LINK: CrawlRequest = {
  url: 'https://a.example/',
  host: 'a.example',
  depth: 1,
  priority: 0,
  attempt: 0,
  redirects: 0,
  parent: undefined,
}

const LIMIT_OF_ONE = { ...DEFAULTS.limit, pages: 1 }

describe('a move', () => {
  const PARCEL = { partitions: [1] } as unknown as PartitionSnapshot

  function moves() {
    const posted: [shard: number, message: ToWorker][] = []
    const book = new OwnershipRegistry(4, 2)
    const order = (shard: number, message: ToWorker) => void posted.push([shard, message])
    return {
      posted,
      book,
      moves: new Moves(book, { command: order, isWorking: () => true, settled: () => {} }),
    }
  }

  it('is not begun for what has moved already', () => {
    const { posted, book, moves: all } = moves()
    book.move([1], 0, 1)
    all.start([1], 1, 0)
    expect([posted, all.isBusy]).toEqual([[], false])
  })

  it('tells the successor of a dead receiver until when others may have visited its hosts', () => {
    const { posted, moves: all } = moves()
    all.start([1], 1, 0)
    all.released(1, PARCEL)
    all.died(0, 5000)
    expect(all.inTransitTo(0)).toMatchObject({ partitions: [1], from: 1 })
    all.replaced(0)
    expect(posted.at(-1)).toEqual([0, { kind: 'adopt', snapshot: PARCEL, version: 1, visitedUntil: 5000 }])
  })

  it('changes the version of a table also where the version is known already', () => {
    const table = new OwnershipTable(0, [1, 1], 7)
    table.move([0], 0, 7)
    expect([table.ownerOf(0), table.version]).toEqual([0, 8])
  })

  it('waits for what is known and not pending yet, but not for what comes later', async () => {
    const passage = new AdmissionsInProgress()
    const [early, late] = [{}, {}]
    passage.enter(early)
    let isCleared = false
    const cleared = passage.drained().then(() => {
      isCleared = true
    })
    passage.enter(late)
    await Promise.resolve()
    expect(isCleared).toBe(false)
    passage.leave(early)
    await cleared
  })
})

describe('the budget of several shards', () => {
  it('is not claimed where nothing is due, or shards would keep each other awake', () => {
    const memory = budgetMemory(1, Number.POSITIVE_INFINITY, 2)
    let told = 0
    const purse = new VisitBudget(
      new Tally(),
      { limit: LIMIT_OF_ONE, retryFailed: false },
      new SharedBudget(memory, 0, () => told++),
    )
    const other = new SharedBudget(memory, 1, () => {})
    expect(other.claim(1)).toBe(1)
    expect([purse.claim(1, true), purse.isEmpty]).toEqual([0, true])
    // Whoever has nothing to do wakes for what is due, not for shares.
    expect([purse.claim(1, false), purse.isEmpty]).toEqual([0, false])
    expect(told).toBe(0)
  })

  it('does not wait for the dead', () => {
    const memory = budgetMemory(1, Number.POSITIVE_INFINITY, 2)
    let told = 0
    const living = new SharedBudget(memory, 0, () => told++)
    const dead = new SharedBudget(memory, 1, () => {})
    living.claim(1)
    expect(dead.claim(1)).toBe(0)
    returnClaims(memory, 1, false)
    living.release(1)
    expect(told).toBe(0)
  })
})

describe('the exchange of a shard', () => {
  it('passes on what comes back, though it has sent it there before', async () => {
    const { clock, a, arrived } = pair()
    a.send(1, [LINK])
    a.send(1, [LINK])
    a.flush()
    await clock.advance(100)
    expect(arrived).toEqual([LINK.url])
    a.send(1, [LINK], true)
    a.flush()
    await clock.advance(100)
    expect(arrived).toEqual([LINK.url, LINK.url])
  })

  it('counts nothing as kept while the shard holds it in its hands', async () => {
    const removed: number[] = []
    const outbox = () => ({
      firstBatch: 0,
      put() {},
      remove: (batch: number) => void removed.push(batch),
      whenDurable: now,
    })
    const { clock, a, b } = pair(outbox)
    const orders: string[] = []
    let received = 0
    b.receive(() => {
      received++
      b.hold(true)
    })
    a.send(1, [LINK])
    await clock.advance(1000)
    b.whenDurable(() => orders.push('kept'))
    expect([received, removed, orders]).toEqual([1, [], []])
    b.hold(false)
    await clock.advance(1000)
    expect([removed, orders]).toEqual([[0], ['kept']])
  })

  it('reports its rest once all is kept: who dies after that has nothing to lose', async () => {
    const kept: (() => void)[] = []
    const reports: unknown[] = []
    const outbox = {
      firstBatch: 0,
      put() {},
      remove() {},
      whenDurable: (then: () => void) => void kept.push(then),
    }
    const { a } = pair(
      () => outbox,
      (report) => reports.push(report),
    )
    a.rest()
    expect(reports).toEqual([])
    // An order came in between: that rest is over.
    a.commandDone()
    for (const then of kept.splice(0)) then()
    expect(reports).toEqual([])
    a.rest()
    for (const then of kept.splice(0)) then()
    expect(reports).toMatchObject([{ commands: 1 }])
  })
})

function now(then: () => void): void {
  then()
}

/** Two exchanges, joined by simulated ports; what arrives at the second is noted. */
function pair(
  outbox: () => PortExchangeOptions['outbox'] = () => undefined,
  report: PortExchangeOptions['report'] = () => {},
): { clock: VirtualClock; a: PortExchange; b: PortExchange; arrived: string[] } {
  const clock = virtualClock()
  const make = (self: number) => new PortExchange({ self, shards: 2, clock, outbox: outbox(), report })
  const [a, b] = [make(0), make(1)]
  const arrived: string[] = []
  b.receive((requests) => void arrived.push(...requests.map(({ url }) => url)))
  const ports = SimPort.pair(clock, new Delays(seededRandom(1), 0))
  for (const [shard, port] of ports.entries()) {
    port.owner = new SimThread(shard, shard, { clock, turn: () => {}, died: () => {} })
    const [self, other] = shard === 0 ? [a, 1] : [b, 0]
    self.connect(other, port as unknown as MessagePort)
  }
  return { clock, a, b, arrived }
}
