import { describe, expect, it } from 'vitest'
import { exchangeSuite } from '../../src/conformance/exchange/exchange.js'
import type { Exchange } from '../../src/exchange/contract.js'
import { localMesh } from '../../src/exchange/local.js'
import type { CrawlRequest } from '../../src/types.js'
import { failuresOf, isNoticed } from './collect.js'

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
        rest: () => sound.rest(),
        watch: (rouse: () => void) => sound.watch(rouse),
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

/** A mesh that looks for the end in its own way: `rested` are those that said that they rest. */
function ending(
  isEnd: (rested: ReadonlySet<Exchange>, mesh: readonly Exchange[]) => boolean,
  arrivalEndsRest: boolean,
): () => Exchange[] {
  return () => {
    const rested = new Set<Exchange>()
    const rouses: (() => void)[] = []
    return broken((sound, mesh) => ({
      receive: (handler) =>
        sound.receive(async (requests) => {
          if (arrivalEndsRest) rested.delete(sound)
          await handler(requests)
          queueMicrotask(() => queueMicrotask(() => isEnd(rested, mesh) && rouses.map((rouse) => rouse())))
        }),
      watch: (rouse) => void rouses.push(rouse),
      rest() {
        const isNew = !rested.has(sound)
        rested.add(sound)
        if (!isEnd(rested, mesh)) return false
        if (isNew) for (const rouse of rouses) rouse()
        return true
      },
    }))()
  }
}

const isCalm = (mesh: readonly Exchange[]) => mesh.every(({ inTransit }) => inTransit === 0)

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
  'always says that all rest': broken(() => ({ rest: () => true })),
  'never says that all rest': broken(() => ({ rest: () => false })),
  'rouses nobody': broken(() => ({ watch: () => {} })),
  'thinks of itself alone when it says that all rest': broken((sound) => ({
    rest: () => sound.inTransit === 0,
  })),
  'says that all rest though something is on its way': ending((rested) => rested.size === 3, true),
  'says that all rest though one has been given work': ending(
    (rested, mesh) => rested.size === 3 && isCalm(mesh),
    false,
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
  it('accepts a mesh that looks for the end in another way', async () => {
    const create = ending((rested, mesh) => rested.size === 3 && isCalm(mesh), true)
    expect(await failuresOf((it) => exchangeSuite({ it, create, patienceMs: 1000 }))).toEqual([])
  })

  it.for(Object.entries(MUTANTS))('notices one that %s', async ([, create]) => {
    expect(await isNoticed((it) => exchangeSuite({ it, create, patienceMs: 200 }))).toBe(true)
  })
})
