import type { MessagePort } from 'node:worker_threads'
import { afterEach, describe, expect, it } from 'vitest'
import { exchangeSuite } from '../../../src/conformance/exchange/exchange.js'
import type { Outbox } from '../../../src/stores/contract.js'
import type { CrawlRequest } from '../../../src/types.js'
import { readBatch } from '../../../src/workers/exchange/codec.js'
import { PortExchange, type PortExchangeOptions } from '../../../src/workers/exchange/port-exchange.js'
import { ManualClock } from '../../engine/manual-clock.js'
import { type PortMesh, portMesh, ports } from './port-mesh.js'

function requests(count: number, name = 'a'): CrawlRequest[] {
  return Array.from({ length: count }, (_, i) => request(`${name}/${i}`))
}

function request(path: string, more: Partial<CrawlRequest> = {}): CrawlRequest {
  return {
    url: `https://example.com/${path}`,
    host: 'example.com',
    depth: 1,
    priority: 0,
    attempt: 0,
    redirects: 0,
    parent: 'https://example.org/',
    ...more,
  }
}

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve))

/** Ports need a few turns of the loop, and nobody knows how many. */
async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`never came true: ${condition}`)
    await turn()
  }
}

/** Resolves when the exchange at this end of the port has been sent a receipt, and has read it. */
function receiptOn(port: MessagePort): Promise<void> {
  return new Promise((resolve) => {
    port.on('message', (message: unknown) => void (Array.isArray(message) && resolve()))
  })
}

/** For what must not happen. */
async function someTurns(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn()
}

const open: PortExchange[] = []
afterEach(() => {
  for (const exchange of open.splice(0)) exchange.close()
})

function mesh(...given: Parameters<typeof portMesh>): PortMesh {
  const made = portMesh(...given)
  open.push(...made.shards)
  return made
}

function pair(options: Partial<PortExchangeOptions> = {}): [PortExchange, PortExchange] {
  const [a, b] = mesh(2, options).shards
  return [a!, b!]
}

function lone(self: number, options: Partial<PortExchangeOptions> = {}): PortExchange {
  const made = new PortExchange({ self, shards: 2, clock: new ManualClock(), ...options })
  open.push(made)
  return made
}

/** The paths of all that arrives. */
function pathsAt(exchange: PortExchange): string[] {
  const paths: string[] = []
  exchange.receive((batch) => {
    for (const { url } of batch) paths.push(url.slice('https://example.com/'.length))
  })
  return paths
}

function sizesAt(exchange: PortExchange): number[] {
  const sizes: number[] = []
  exchange.receive((batch) => void sizes.push(batch.length))
  return sizes
}

/** A outbox whose commits are the test's. */
class ManualSpool implements Outbox {
  firstBatch = 0
  readonly held = new Map<number, string>()
  readonly log: string[] = []
  #waiting: (() => void)[] = []

  put(batch: number, text: string): void {
    this.held.set(batch, text)
    this.log.push(`put ${batch}`)
  }

  remove(batch: number): void {
    this.held.delete(batch)
    this.log.push(`remove ${batch}`)
  }

  whenDurable(then: () => void): void {
    this.#waiting.push(then)
  }

  get isAsked(): boolean {
    return this.#waiting.length > 0
  }

  commit(): void {
    for (const then of this.#waiting.splice(0)) then()
  }

  get urls(): number {
    return [...this.held.values()].reduce((sum, text) => sum + readBatch(text).length, 0)
  }
}

describe.for([1, 7, 1000])('a mesh of ports with batches of %i', (batch) => {
  exchangeSuite({ it, create: () => portMesh(3, { batch }).shards })
})

describe('a mesh of ports without a filter', () => {
  exchangeSuite({ it, create: () => portMesh(3, { filter: false }).shards })
})

describe('a mesh of ports with outboxes', () => {
  const create = () =>
    portMesh(3, () => ({
      outbox: {
        firstBatch: 0,
        put() {},
        remove() {},
        whenDurable: (then: () => void) => void setImmediate(then),
      },
    })).shards
  exchangeSuite({ it, create })
})

describe('batches', () => {
  it('go when they are full', async () => {
    const [a, b] = pair({ batch: 10, clock: new ManualClock() })
    const sizes = sizesAt(b)
    for (let i = 0; i < 25; i++) a.send(1, [request(`${i}`)])
    await until(() => sizes.length === 2)
    await someTurns()
    expect(sizes).toEqual([10, 10])
  })

  it('go when they are long', async () => {
    const [a, b] = pair({ clock: new ManualClock() })
    const sizes = sizesAt(b)
    a.send(
      1,
      Array.from({ length: 10 }, (_, i) => request(`${i}${'x'.repeat(20_000)}`)),
    )
    await until(() => sizes.length === 2)
    expect(sizes).toEqual([4, 4])
  })

  it('go after a few milliseconds, with all that was sent meanwhile', async () => {
    const clock = new ManualClock()
    const [a, b] = pair({ clock })
    const sizes = sizesAt(b)
    a.send(1, requests(2, 'a'))
    clock.advance(3)
    a.send(1, requests(3, 'b'))
    await someTurns()
    expect(sizes).toEqual([])
    clock.advance(2)
    await until(() => sizes.length > 0)
    expect(sizes).toEqual([5])
  })

  it('go at a flush', async () => {
    const [a, b] = pair({ clock: new ManualClock() })
    const sizes = sizesAt(b)
    a.send(1, requests(3))
    a.flush()
    await until(() => sizes.length > 0)
    expect(sizes).toEqual([3])
  })

  it('are handed over one at a time', async () => {
    const [a, b] = pair({ batch: 1 })
    let running = 0
    let most = 0
    let handled = 0
    b.receive(async () => {
      most = Math.max(most, ++running)
      await turn()
      running--
      handled++
    })
    a.send(1, requests(5))
    await until(() => handled === 5)
    expect(most).toBe(1)
  })

  it('let the caller use the array again', async () => {
    const [a, b] = pair()
    const paths = pathsAt(b)
    const links = requests(3)
    a.send(1, links)
    links.length = 0
    await until(() => paths.length === 3)
  })

  it('are refused for a shard that does not exist, for itself and after close', () => {
    const [a] = pair()
    const broken = expect.objectContaining({ name: 'KumoError', code: 'KUMO_CONTRACT_BROKEN' })
    for (const shard of [0, -1, 2, 0.5, Number.NaN]) expect(() => a.send(shard, requests(1))).toThrow(broken)
    a.close()
    expect(() => a.send(1, requests(1))).toThrow(broken)
  })
})

describe('the filter of what was sent lately', () => {
  it('drops a plain link the second time', async () => {
    const [a, b] = pair()
    const paths = pathsAt(b)
    a.send(1, [request('x'), request('y'), request('x', { depth: 5, parent: undefined })])
    a.send(1, [request('y', { hint: { priority: 1 } })])
    await until(() => paths.length >= 2)
    await someTurns()
    expect(paths).toEqual(['x', 'y'])
  })

  it('lets pass what is no plain link', async () => {
    const [a, b] = pair()
    const paths = pathsAt(b)
    const others: CrawlRequest[] = [
      request('x', { attempt: 1 }),
      request('x', { via: ['https://example.com/y'], redirects: 1 }),
      request('x', { purpose: { kind: 'robots', origin: 'https://example.com' } }),
    ]
    a.send(1, [...others, ...others, request('x')])
    await until(() => paths.length >= 7)
    await someTurns()
    expect(paths).toHaveLength(7)
  })

  it('keeps shards apart', async () => {
    const [a, b, c] = mesh(3).shards
    const atB = pathsAt(b!)
    const atC = pathsAt(c!)
    a!.send(1, requests(100))
    a!.send(2, requests(100))
    await until(() => atB.length >= 100 && atC.length >= 100)
    await someTurns()
    expect([atB.length, atC.length]).toEqual([100, 100])
  })

  it('can be left out', async () => {
    const [a, b] = pair({ filter: false })
    const paths = pathsAt(b)
    a.send(1, [request('x'), request('x')])
    await until(() => paths.length >= 2)
    expect(paths).toEqual(['x', 'x'])
  })
})

describe('messages', () => {
  it('travel in order with batches, and what they hand over is handed over', async () => {
    const log: string[] = []
    const [a, b] = pair({
      clock: new ManualClock(),
      onMessage: (from, message) => {
        const { text, bytes } = message as { text: string; bytes?: Uint8Array }
        log.push(`${text} from ${from}${bytes ? ` with ${bytes.length}` : ''}`)
      },
    })
    b.receive((batch) => void log.push(`batch of ${batch.length}`))
    const bytes = new Uint8Array(8)
    a.send(1, requests(2, 'a'))
    a.post(1, { text: 'one' })
    a.send(1, requests(3, 'b'))
    a.post(1, { text: 'two', bytes }, [bytes.buffer])
    expect(bytes.length).toBe(0)
    await until(() => log.length === 4)
    expect(log).toEqual(['batch of 2', 'one from 0', 'batch of 3', 'two from 0 with 8'])
  })

  it('are waited for before the next batch, and before anybody rests', async () => {
    let finish = () => {}
    const { shards, reports } = mesh(2, {
      onMessage: () =>
        new Promise<void>((resolve) => {
          finish = resolve
        }),
    })
    const [a, b] = shards as [PortExchange, PortExchange]
    const paths = pathsAt(b)
    let over = 0
    for (const shard of shards) shard.watch(() => setImmediate(() => void (shard.rest() && over++)))
    a.post(1, 'state')
    a.send(1, requests(1))
    a.rest()
    await someTurns()
    expect(b.rest()).toBe(false)
    await someTurns()
    expect([paths.length, over, reports[1]]).toEqual([0, 0, []])
    finish()
    await until(() => over === 2)
    expect(reports.map((all) => all.at(-1))).toEqual([
      { sent: [0, 2], processed: [0, 0], commands: 0 },
      { sent: [0, 0], processed: [2, 0], commands: 0 },
    ])
  })

  it('rouse a shard that rests, even if they give it nothing to do', async () => {
    const { shards } = mesh(2)
    const [a, b] = shards as [PortExchange, PortExchange]
    pathsAt(b)
    let over = 0
    for (const shard of shards) shard.watch(() => setImmediate(() => void (shard.rest() && over++)))
    expect(b.rest()).toBe(false)
    await someTurns()
    a.post(1, 'nothing')
    a.rest()
    await until(() => over === 2)
  })

  it('that cannot be posted throw at once and are not counted', async () => {
    const { shards, reports } = mesh(2)
    expect(() => shards[0]!.post(1, () => {})).toThrow(/could not be cloned/)
    shards[0]!.rest()
    expect(reports[0]).toEqual([{ sent: [0, 0], processed: [0, 0], commands: 0 }])
  })
})

describe('rest', () => {
  it('is reported once, until something comes or goes', async () => {
    const { shards, reports } = mesh(2)
    const [a, b] = shards as [PortExchange, PortExchange]
    const paths = pathsAt(b)
    expect([b.rest(), b.rest()]).toEqual([false, false])
    expect(reports[1]).toHaveLength(1)
    a.send(1, requests(1))
    a.flush()
    await until(() => paths.length === 1)
    await someTurns()
    expect(b.rest()).toBe(false)
    b.rest()
    expect(reports[1]!.slice(1)).toEqual([{ sent: [0, 0], processed: [1, 0], commands: 0 }])
    b.send(0, requests(1))
    b.rest()
    expect(reports[1]!.slice(2)).toEqual([{ sent: [1, 0], processed: [1, 0], commands: 0 }])
  })

  it('is over when the main thread says so, and not if something came first', async () => {
    const a = lone(0)
    let roused = 0
    a.watch(() => void roused++)
    a.finish()
    expect([a.rest(), roused]).toEqual([false, 0])
    a.send(1, requests(1))
    a.finish()
    expect([a.rest(), roused]).toEqual([false, 0])
    a.finish()
    expect([a.rest(), roused]).toEqual([true, 1])
  })

  it('ends with an order, which counts in the next report', () => {
    const reports: unknown[] = []
    const a = lone(0, { report: ({ commands: orders }) => void reports.push(orders) })
    let roused = 0
    a.watch(() => void roused++)
    a.rest()
    a.commandDone()
    a.finish()
    expect([a.rest(), roused]).toEqual([false, 1])
    expect(reports).toEqual([0, 1])
  })

  it('ends when another shard is replaced', async () => {
    const { shards, reports } = mesh(2)
    const [a] = shards as [PortExchange]
    a.send(1, requests(1))
    a.rest()
    let roused = 0
    a.watch(() => void roused++)
    const [port] = ports()
    a.connect(1, port)
    expect(roused).toBeGreaterThan(0)
    a.rest()
    expect(reports[0]).toHaveLength(2)
  })
})

describe('a shard that died', () => {
  it('leaves what it had not taken in to its successor', async () => {
    const a = lone(0)
    const first = lone(1)
    const [portA, portB] = ports()
    a.connect(1, portA)
    first.connect(0, portB)
    const atFirst = pathsAt(first)
    const receipt = receiptOn(portA)
    a.send(1, requests(3, 'taken'))
    a.flush()
    await until(() => atFirst.length === 3)
    first.flush()
    await receipt
    first.receive(() => new Promise(() => {}))
    a.send(1, requests(4, 'lost'))
    a.flush()
    a.send(1, requests(5, 'held-back'))
    await someTurns()
    first.close()
    expect(a.disconnect(1)).toBe(4)
    expect(a.disconnect(1)).toBe(0)
    a.send(1, requests(3, 'taken'))
    a.flush()

    const second = lone(1)
    const [portA2, portB2] = ports()
    a.connect(1, portA2)
    second.connect(0, portB2)
    const atSecond = pathsAt(second)
    await until(() => atSecond.length === 12)
    expect(atSecond.map((path) => path.split('/')[0])).toEqual([
      ...Array(4).fill('lost'),
      ...Array(5).fill('held-back'),
      // It is sent again: whoever knew it is dead.
      ...Array(3).fill('taken'),
    ])
  })

  it('is given up if nothing is to be sent again', async () => {
    const [a, b] = pair()
    b.receive(() => new Promise(() => {}))
    a.send(1, requests(4, 'lost'))
    a.flush()
    a.send(1, requests(5, 'held-back'))
    expect(a.disconnect(1, false)).toBe(4)
    const second = lone(1)
    const [portA, portB] = ports()
    a.connect(1, portA)
    second.connect(0, portB)
    const atSecond = pathsAt(second)
    a.flush()
    await until(() => atSecond.length >= 5)
    await someTurns()
    expect(atSecond.map((path) => path.split('/')[0])).toEqual(Array(5).fill('held-back'))
  })

  it('has what it sent before taken in all the same', async () => {
    const [a, b] = pair()
    const paths = pathsAt(a)
    b.send(0, requests(3))
    b.flush()
    a.disconnect(1)
    await until(() => paths.length === 3)
  })

  it('counts from the beginning in its successor', async () => {
    const { shards, reports } = mesh(2)
    const [a, b] = shards as [PortExchange, PortExchange]
    const paths = pathsAt(b)
    pathsAt(a)
    b.send(0, requests(2))
    b.flush()
    a.send(1, requests(2))
    a.flush()
    await until(() => paths.length === 2)
    b.flush()
    await someTurns()
    a.rest()
    a.disconnect(1)
    a.send(1, requests(1))
    a.rest()
    expect(reports[0]).toEqual([
      { sent: [0, 1], processed: [0, 1], commands: 0 },
      { sent: [0, 1], processed: [0, 0], commands: 0 },
    ])
  })

  it('is replaced by whom a new port leads to, without a word about its end', async () => {
    const [a] = pair()
    a.send(1, requests(2))
    a.flush()
    const [portA, portB] = ports()
    a.connect(1, portA)
    const second = lone(1)
    second.connect(0, portB)
    const paths = pathsAt(second)
    await until(() => paths.length === 2)
  })

  it('cannot lose a message that had not left', async () => {
    const a = lone(0)
    a.post(1, 'early')
    const heard: unknown[] = []
    const b = lone(1, { onMessage: (_, message) => void heard.push(message) })
    b.receive(() => {})
    const [portA, portB] = ports()
    a.connect(1, portA)
    b.connect(0, portB)
    await until(() => heard.length === 1)
  })
})

describe('a outbox', () => {
  it('holds a batch from the moment it leaves until its receiver has it for good', async () => {
    const outboxes = [new ManualSpool(), new ManualSpool()] as const
    outboxes[0].firstBatch = 100
    const { shards } = mesh(2, (self) => ({
      outbox: outboxes[self as 0 | 1],
      batch: 2,
      clock: new ManualClock(),
    }))
    const [a, b] = shards as [PortExchange, PortExchange]
    const paths = pathsAt(b)
    a.send(1, requests(5))
    expect(outboxes[0].log).toEqual(['put 100', 'put 101'])
    a.flush()
    expect(outboxes[0].log).toEqual(['put 100', 'put 101', 'put 102'])
    expect(outboxes[0].urls).toBe(5)
    await until(() => paths.length === 5)
    b.flush()
    await someTurns()
    expect(outboxes[0].held.size).toBe(3)
    expect(outboxes[1].isAsked).toBe(true)
    outboxes[1].commit()
    b.flush()
    await until(() => outboxes[0].held.size === 0)
    expect(outboxes[0].log.slice(3)).toEqual(['remove 100', 'remove 101', 'remove 102'])
    expect(outboxes[1].log).toEqual([])
  })

  it('of the sender keeps what was taken in after the commit began', async () => {
    const outboxes = [new ManualSpool(), new ManualSpool()] as const
    const { shards } = mesh(2, (self) => ({ outbox: outboxes[self as 0 | 1], clock: new ManualClock() }))
    const [a, b] = shards as [PortExchange, PortExchange]
    const paths = pathsAt(b)
    a.send(1, requests(1, 'a'))
    a.flush()
    await until(() => paths.length === 1)
    b.flush()
    a.send(1, requests(1, 'b'))
    a.flush()
    await until(() => paths.length === 2)
    outboxes[1].commit()
    b.flush()
    await until(() => outboxes[0].held.size < 2)
    await someTurns()
    expect([...outboxes[0].held.keys()]).toEqual([1])
    outboxes[1].commit()
    b.flush()
    await until(() => outboxes[0].held.size === 0)
  })

  it('lets a successor have what a dead shard had taken in but not kept', async () => {
    const outbox = new ManualSpool()
    const a = lone(0, { outbox: outbox })
    const first = lone(1, { outbox: new ManualSpool() })
    const [portA, portB] = ports()
    a.connect(1, portA)
    first.connect(0, portB)
    const atFirst = pathsAt(first)
    const receipt = receiptOn(portA)
    a.send(1, requests(3))
    a.flush()
    await until(() => atFirst.length === 3)
    first.flush()
    await receipt
    first.close()
    expect(a.disconnect(1)).toBe(0)

    const kept = new ManualSpool()
    const second = lone(1, { outbox: kept })
    const [portA2, portB2] = ports()
    a.connect(1, portA2)
    second.connect(0, portB2)
    const atSecond = pathsAt(second)
    await until(() => atSecond.length === 3)
    second.flush()
    kept.commit()
    second.flush()
    await until(() => outbox.held.size === 0)
    expect(outbox.log).toEqual(['put 0', 'remove 0'])
  })

  it('is given what is held back when the exchange is closed', () => {
    const outbox = new ManualSpool()
    const a = lone(0, { outbox: outbox })
    a.send(1, requests(3))
    a.close()
    expect(outbox.urls).toBe(3)
  })

  it('goes on holding what a handler failed to take in', async () => {
    const outboxes = [new ManualSpool(), new ManualSpool()] as const
    const failures: number[] = []
    const { shards } = mesh(2, (self) => ({
      outbox: outboxes[self as 0 | 1],
      batch: 1,
      onError: (_: unknown, failed: readonly CrawlRequest[]) => void failures.push(failed.length),
    }))
    const [a, b] = shards as [PortExchange, PortExchange]
    let calls = 0
    b.receive(() => {
      if (++calls === 1) throw new Error('no room')
    })
    a.send(1, requests(3))
    await until(() => calls === 3)
    b.flush()
    outboxes[1].commit()
    b.flush()
    await someTurns()
    expect([failures, outboxes[0].held.size]).toEqual([[1], 3])
  })
})

describe('what goes wrong', () => {
  const failing: [string, () => void | Promise<void>][] = [
    [
      'throws',
      () => {
        throw new Error('no room')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no room'))],
  ]
  it.for(failing)(
    'a handler that %s is reported with its batch, and the next is handed over',
    async ([, fail]) => {
      const reported: [unknown, number][] = []
      const [a, b] = pair({ batch: 2, onError: (error, batch) => void reported.push([error, batch.length]) })
      const sizes: number[] = []
      b.receive((batch) => {
        sizes.push(batch.length)
        return sizes.length === 1 ? fail() : undefined
      })
      a.send(1, requests(5))
      await until(() => sizes.length === 3)
      expect(reported).toEqual([[new Error('no room'), 2]])
      expect(sizes).toEqual([2, 2, 1])
    },
  )

  it.for(failing)('so is a handler of messages that %s', async ([, fail]) => {
    const reported: [unknown, number][] = []
    const [a, b] = pair({
      onMessage: fail,
      onError: (error, batch) => void reported.push([error, batch.length]),
    })
    const paths = pathsAt(b)
    a.post(1, 'x')
    a.send(1, requests(1))
    await until(() => paths.length === 1)
    expect(reported).toEqual([[new Error('no room'), 0]])
  })

  it('so is a batch that nobody can read', async () => {
    const reported: unknown[] = []
    const b = lone(1, { onError: (error) => void reported.push(error) })
    const [portA, portB] = ports()
    b.connect(0, portB)
    b.receive(() => {})
    portA.postMessage('not a batch')
    await until(() => reported.length === 1)
    expect(reported).toEqual([new Error('not a batch of requests: not a batch')])
    portA.close()
  })

  it('is thrown where nobody can miss it, if nobody listens', async () => {
    const [a, b] = pair()
    b.receive(() => {
      throw new Error('no room')
    })
    const caught: unknown[] = []
    const listeners = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    const listener = (error: unknown) => void caught.push(error)
    process.on('uncaughtException', listener)
    try {
      a.send(1, requests(1))
      await until(() => caught.length > 0)
    } finally {
      process.off('uncaughtException', listener)
      for (const other of listeners) process.on('uncaughtException', other)
    }
    expect(caught).toEqual([new Error('no room')])
  })
})

describe('close', () => {
  const handles = () =>
    process.getActiveResourcesInfo().filter((name) => name === 'MessagePort' || name === 'Timeout').length

  it('leaves no port and no timer behind', async () => {
    await turn()
    const before = handles()
    const { shards } = portMesh(3)
    const [a, b] = shards as [PortExchange, PortExchange]
    const paths = pathsAt(b)
    a.send(1, requests(3))
    a.flush()
    await until(() => paths.length === 3)
    a.send(1, requests(3, 'b'))
    expect(handles()).toBeGreaterThan(before)
    for (const shard of shards) shard.close()
    await until(() => handles() <= before)
  })

  it('sets no timer for a handler that is done afterwards', async () => {
    const clock = new ManualClock()
    const [a, b] = pair({ clock })
    let finish = () => {}
    b.receive(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve
        }),
    )
    a.send(1, requests(1))
    a.flush()
    await someTurns()
    for (const shard of [a, b]) shard.close()
    finish()
    await someTurns()
    expect(clock.alarms).toEqual([])
  })
})
