import { describe, expect, it } from 'vitest'
import { exchangeSuite } from '../../src/conformance/exchange/exchange.js'
import type { Exchange } from '../../src/exchange/contract.js'
import type { CrawlRequest } from '../../src/types.js'
import { failuresOf, isNoticed } from './collect.js'
import { type LocalExchange, localMesh } from './local-mesh.js'

type Handler = Parameters<Exchange['receive']>[0]

/** Changes each exchange of a sound mesh; everything else is passed to the sound one. */
function broken(change: (sound: LocalExchange, mesh: readonly LocalExchange[]) => Partial<Exchange>) {
  return (): Exchange[] => {
    const mesh = localMesh(3)
    return mesh.map((sound) => ({
      send: (shard, requests) => sound.send(shard, requests),
      receive: (handler) => sound.receive(handler),
      flush: () => sound.flush(),
      rest: () => sound.rest(),
      watch: (wake) => sound.watch(wake),
      close: () => sound.close(),
      ...change(sound, mesh),
    }))
  }
}

const receiving = (change: (handler: Handler) => Handler) =>
  broken((sound) => ({ receive: (handler) => sound.receive(change(handler)) }))

/** A mesh that detects the end in its own way: `resting` are the shards that called `rest`. */
function ending(
  isEnd: (resting: ReadonlySet<Exchange>, mesh: readonly LocalExchange[]) => boolean,
  arrivalEndsRest: boolean,
): () => Exchange[] {
  return () => {
    const resting = new Set<Exchange>()
    const wakes: (() => void)[] = []
    return broken((sound, mesh) => ({
      receive: (handler) =>
        sound.receive(async (requests) => {
          if (arrivalEndsRest) resting.delete(sound)
          await handler(requests)
          queueMicrotask(() => queueMicrotask(() => isEnd(resting, mesh) && wakes.map((wake) => wake())))
        }),
      watch: (wake) => void wakes.push(wake),
      rest() {
        const isNew = !resting.has(sound)
        resting.add(sound)
        if (!isEnd(resting, mesh)) return false
        if (isNew) for (const wake of wakes) wake()
        return true
      },
    }))()
  }
}

const isNothingOnItsWay = (mesh: readonly LocalExchange[]) => mesh.every(({ inTransit }) => inTransit === 0)

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
  'does not wait for the promise of the handler': receiving((handler) => (requests) => {
    void handler(requests)
  }),
  'hands over requests after it counts them as handled': receiving((handler) => (requests) => {
    queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => void handler(requests))))
  }),
  'drops what arrives before the handler is set': broken((sound) => {
    sound.receive(() => {})
    return {}
  }),
  'never delivers what is held back': broken((sound) => ({
    send: (shard, requests) => requests.length >= 1000 && sound.send(shard, requests),
  })),
  'sends urls only': receiving(
    (handler) => (requests) => handler(requests.map(({ url }) => ({ url }) as CrawlRequest)),
  ),
  'loses what the program asked for': receiving(
    (handler) => (requests) => handler(requests.map((each) => ({ ...each, extras: undefined }))),
  ),
  'forgets until when a request waits': receiving(
    (handler) => (requests) => handler(requests.map((each) => ({ ...each, notBefore: undefined }))),
  ),
  'sends each URL once': broken((sound) => {
    const sent = new Set<string>()
    const isNew = ({ url }: CrawlRequest) => !sent.has(url) && sent.add(url) !== undefined
    return { send: (shard, requests) => sound.send(shard, requests.filter(isNew)) }
  }),
  'always rests': broken(() => ({ rest: () => true })),
  'never rests': broken(() => ({ rest: () => false })),
  'never wakes a shard': broken(() => ({ watch: () => {} })),
  'rests as soon as its own requests are handled': broken((sound) => ({
    rest: () => sound.inTransit === 0,
  })),
  'rests while requests are on their way': ending((resting) => resting.size === 3, true),
  'rests although a shard has received work': ending(
    (resting, mesh) => resting.size === 3 && isNothingOnItsWay(mesh),
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
  it('accepts a mesh that detects the end in another way', async () => {
    const create = ending((resting, mesh) => resting.size === 3 && isNothingOnItsWay(mesh), true)
    expect(await failuresOf((it) => exchangeSuite({ it, create, patienceMs: 1000 }))).toEqual([])
  })

  it.for(Object.entries(MUTANTS))('notices one that %s', async ([, create]) => {
    expect(await isNoticed((it) => exchangeSuite({ it, create, patienceMs: 200 }))).toBe(true)
  })
})
