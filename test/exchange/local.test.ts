import { describe, expect, it } from 'vitest'
import { exchangeSuite } from '../../src/conformance/exchange/exchange.js'
import type { Exchange } from '../../src/exchange/contract.js'
import { localMesh } from '../../src/exchange/local.js'
import type { CrawlRequest } from '../../src/types.js'

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve))

function requests(count: number, name = 'a'): CrawlRequest[] {
  return Array.from({ length: count }, (_, i) => ({
    url: `https://example.com/${name}/${i}`,
    host: 'example.com',
    depth: 0,
    priority: 0,
    attempt: 0,
    redirects: 0,
    parent: undefined,
  }))
}

function pair(options?: Parameters<typeof localMesh>[1]): [Exchange, Exchange] {
  const [a, b] = localMesh(2, options)
  return [a!, b!]
}

/** The sizes of the batches that arrive. */
function sizesAt(exchange: Exchange): number[] {
  const sizes: number[] = []
  exchange.receive((batch) => void sizes.push(batch.length))
  return sizes
}

describe.for([1, 7, 1000])('localMesh with batches of %i', (batch) => {
  exchangeSuite({ it, create: () => localMesh(3, { batch }) })
})

describe('localMesh', () => {
  it('delivers after the running code, never within send, flush or receive', async () => {
    const [a, b] = pair({ batch: 2 })
    const sizes = sizesAt(b)
    a.send(1, requests(3))
    a.flush()
    b.receive((batch) => void sizes.push(batch.length))
    expect(sizes).toEqual([])
    await turn()
    expect(sizes).toEqual([2, 1])
  })

  it('joins what is sent in one go, up to the size of a batch', async () => {
    const [a, b] = pair({ batch: 10 })
    const sizes = sizesAt(b)
    for (let i = 0; i < 25; i++) a.send(1, requests(1))
    await turn()
    expect(sizes).toEqual([10, 10, 5])
  })

  it('delivers without a flush', async () => {
    const [a, b] = pair()
    const sizes = sizesAt(b)
    a.send(1, requests(1))
    await turn()
    expect(sizes).toEqual([1])
  })

  it('parts what is sent before a flush from what is sent after it', async () => {
    const [a, b] = pair()
    const sizes = sizesAt(b)
    a.send(1, requests(2))
    a.flush()
    a.send(1, requests(3))
    await turn()
    expect(sizes).toEqual([2, 3])
  })

  it('lets the caller use the array again', async () => {
    const [a, b] = pair()
    const arrived: CrawlRequest[] = []
    b.receive((batch) => void arrived.push(...batch))
    const links = requests(3)
    a.send(1, links)
    links.length = 0
    await turn()
    expect(arrived).toEqual(requests(3))
  })

  it('hands over one batch at a time', async () => {
    const [a, b] = pair({ batch: 1 })
    let running = 0
    let most = 0
    b.receive(async () => {
      most = Math.max(most, ++running)
      await turn()
      running--
    })
    a.send(1, requests(5))
    while (a.inTransit > 0) await turn()
    expect(most).toBe(1)
  })

  it('a shard may send to itself', async () => {
    const [a] = pair()
    const sizes = sizesAt(a)
    a.send(0, requests(2))
    expect(a.inTransit).toBe(2)
    await turn()
    expect([sizes, a.inTransit]).toEqual([[2], 0])
  })

  const failing: [string, () => void | Promise<void>][] = [
    [
      'throws',
      () => {
        throw new Error('no room')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no room'))],
  ]
  it.for(failing)('reports a handler that %s with its batch, and goes on', async ([, fail]) => {
    const reported: [unknown, number][] = []
    const [a, b] = pair({ batch: 2, onError: (error, batch) => reported.push([error, batch.length]) })
    const sizes: number[] = []
    b.receive((batch) => {
      sizes.push(batch.length)
      return sizes.length === 1 ? fail() : undefined
    })
    a.send(1, requests(5))
    await turn()
    expect(reported).toEqual([[new Error('no room'), 2]])
    expect(sizes).toEqual([2, 2, 1])
    expect(a.inTransit).toBe(0)
  })

  it('throws a handler error where nobody can miss it, if nobody listens', async () => {
    const [a, b] = pair()
    b.receive(() => {
      throw new Error('no room')
    })
    const uncaught = await withUncaught(async () => {
      a.send(1, requests(1))
      await turn()
    })
    expect(uncaught).toEqual([new Error('no room')])
    expect(a.inTransit).toBe(0)
  })

  it('goes on when the listener for errors throws as well', async () => {
    const [a, b] = pair({
      batch: 1,
      onError: () => {
        throw new Error('the listener too')
      },
    })
    b.receive(() => {
      throw new Error('no room')
    })
    const uncaught = await withUncaught(async () => {
      a.send(1, requests(2))
      await turn()
    })
    expect(uncaught).toEqual([new Error('the listener too'), new Error('the listener too')])
    expect(a.inTransit).toBe(0)
  })

  it('discards on close what is on its way to and from a shard, and stops counting it', async () => {
    const [a, b, c] = localMesh(3, { batch: 2 }) as [Exchange, Exchange, Exchange]
    const atA = sizesAt(a)
    const atB = sizesAt(b)
    const atC = sizesAt(c)
    a.send(1, requests(3))
    b.send(2, requests(3))
    c.send(0, requests(3))
    b.close()
    expect(b.inTransit).toBe(0)
    await turn()
    expect([atA, atB, atC]).toEqual([[2, 1], [], []])
    expect([a.inTransit, c.inTransit]).toEqual([0, 0])
    a.send(1, requests(1))
    expect(a.inTransit).toBe(0)
  })

  it('counts a batch whose handler runs on after close until it has settled', async () => {
    const [a, b] = pair({ batch: 1 })
    let release = () => {}
    let calls = 0
    b.receive(() => {
      calls++
      return new Promise<void>((resolve) => {
        release = resolve
      })
    })
    a.send(1, requests(3))
    await turn()
    b.close()
    expect(a.inTransit).toBe(1)
    release()
    await turn()
    expect([a.inTransit, calls]).toEqual([0, 1])
  })

  it('refuses to send to an unknown shard, or when closed', () => {
    const [a] = pair()
    const broken = expect.objectContaining({ name: 'KumoError', code: 'KUMO_CONTRACT_BROKEN' })
    for (const shard of [-1, 2, 0.5, Number.NaN]) expect(() => a.send(shard, requests(1))).toThrow(broken)
    expect(a.inTransit).toBe(0)
    a.close()
    expect(() => a.send(1, requests(1))).toThrow(broken)
  })

  it.for([0, -1, 1.5, Number.NaN])('refuses %d shards and batches of %d', (number) => {
    const invalid = expect.objectContaining({ code: 'KUMO_INVALID_OPTION' })
    expect(() => localMesh(number)).toThrow(invalid)
    expect(() => localMesh(2, { batch: number })).toThrow(invalid)
  })
})

/** What the process would have died of while `run` ran; the test runner's own listeners wait so long. */
async function withUncaught(run: () => Promise<void>): Promise<unknown[]> {
  const caught: unknown[] = []
  const listeners = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  const listener = (error: unknown) => void caught.push(error)
  process.on('uncaughtException', listener)
  try {
    await run()
  } finally {
    process.off('uncaughtException', listener)
    for (const other of listeners) process.on('uncaughtException', other)
  }
  return caught
}
