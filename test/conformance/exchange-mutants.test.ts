import { describe, expect, it } from 'vitest'
import { exchangeSuite } from '../../src/conformance/exchange.js'
import type { Exchange } from '../../src/exchange/contract.js'
import { localMesh } from '../../src/exchange/local.js'
import type { CrawlRequest } from '../../src/types.js'
import { failuresOf } from './collect.js'

type Handler = Parameters<Exchange['receive']>[0]

/** Changes each exchange of a sound mesh; what is not changed goes on to the sound one. */
function broken(change: (sound: Exchange, mesh: readonly Exchange[]) => Partial<Exchange>) {
  return () => {
    const mesh = localMesh(3)
    return mesh.map((sound) => {
      const whole = {
        send: (shard: number, requests: readonly CrawlRequest[]) => sound.send(shard, requests),
        receive: (handler: Handler) => sound.receive(handler),
        flush: () => sound.flush(),
        close: () => sound.close(),
      }
      const inTransit = { get: () => sound.inTransit, enumerable: true, configurable: true }
      const changes = Object.getOwnPropertyDescriptors(change(sound, mesh))
      return Object.defineProperties(whole, { inTransit, ...changes }) as unknown as Exchange
    })
  }
}

const receiving = (change: (handler: Handler) => Handler) =>
  broken((sound) => ({ receive: (handler) => sound.receive(change(handler)) }))

const MUTANTS: Record<string, () => Exchange[]> = {
  'loses the last request of a large batch': receiving(
    (handler) => (requests) => handler(requests.length > 900 ? requests.slice(0, -1) : requests),
  ),
  'loses a request that comes alone': broken((sound) => ({
    send: (shard, requests) => requests.length > 1 && sound.send(shard, requests),
  })),
  'delivers twice': receiving((handler) => async (requests) => {
    await handler(requests)
    await handler(requests)
  }),
  'delivers in reverse': receiving((handler) => (requests) => handler(requests.toReversed())),
  'delivers to the next shard': broken((sound) => ({
    send: (shard, requests) => sound.send((shard + 1) % 3, requests),
  })),
  'delivers to everyone': broken((sound) => ({
    send(_shard, requests) {
      for (const shard of [0, 1, 2]) sound.send(shard, requests)
    },
  })),
  'never counts': broken(() => ({ inTransit: 0 })),
  'counts batches instead of requests': broken((sound) => ({
    get inTransit() {
      return Math.ceil(sound.inTransit / 10)
    },
  })),
  'counts what all have sent': broken((_sound, mesh) => ({
    get inTransit() {
      return mesh.reduce((sum, { inTransit }) => sum + inTransit, 0)
    },
  })),
  'does not wait for the promise of the handler': receiving((handler) => (requests) => {
    void handler(requests)
  }),
  'takes requests off the count before they are taken in': receiving((handler) => (requests) => {
    queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => void handler(requests))))
  }),
  'drops what arrives before there is a handler': broken((sound) => {
    sound.receive(() => {})
    return {}
  }),
  'never delivers what is held back': broken((sound) => ({
    send: (shard, requests) => requests.length >= 1000 && sound.send(shard, requests),
  })),
  'sends urls only': receiving(
    (handler) => (requests) => handler(requests.map(({ url }) => ({ url }) as CrawlRequest)),
  ),
  'delivers after close': broken((sound) => ({ close: () => sound.flush() })),
  'throws when closed twice': broken((sound) => {
    let closed = false
    return {
      close() {
        if (closed) throw new Error('closed already')
        closed = true
        sound.close()
      },
    }
  }),
}

describe('the suite of exchanges', () => {
  it.for(Object.entries(MUTANTS))('notices one that %s', async ([, create]) => {
    expect(await failuresOf((it) => exchangeSuite({ it, create, patienceMs: 200 }))).not.toEqual([])
  })
})
