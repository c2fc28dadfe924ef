/** Redis passes the suite for stores that processes share, and the suite notices stores that do not keep the contract. */

import type { OpenStore } from 'kumo/adapters'
import { membershipSuite, type SharedPlace } from 'kumo/conformance'
import { redis } from 'kumo/redis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SlowLine } from '../../cluster/slow-line.js'
import { failuresOf } from '../../conformance/collect.js'
import { whyNoRedis } from './server.js'
import { newCrawl, useServer } from './support.js'

/** A broken store is waited for until it has had the time to be right. */
const MUTANT_MS = 1500

type Member = NonNullable<OpenStore['membership']>

describe.skipIf(whyNoRedis())(`membership${whyNoRedis() ? `: ${whyNoRedis()}` : ''}`, () => {
  const server = useServer()

  /** `change` breaks what a process opens. */
  function place(change: (sound: OpenStore) => Partial<OpenStore> = () => ({})): SharedPlace {
    const crawl = newCrawl()
    const lines = new Map<OpenStore, { readonly line: SlowLine; readonly node: string }>()
    return {
      store: {
        name: 'redis',
        async open(context) {
          const line = await SlowLine.start(Number(new URL(server.url).port))
          onTestFinished(() => line.close())
          const url = `redis://127.0.0.1:${line.port}`
          const store = await redis(url, { crawl, ttl: '8s', commitEvery: 20 }).open(context)
          const changed = { ...store, ...change(store) }
          lines.set(changed, { line, node: String(lines.size + 1) })
          return changed
        },
      },
      // It reaches Redis no more, and its lease is over.
      async kill(store) {
        const { line, node } = lines.get(store)!
        line.cut()
        await server.redis.hset(`{kumo:${crawl}}:nodes`, node, '1')
        void Promise.resolve(store.close()).catch(() => {})
      },
    }
  }

  membershipSuite({ it, create: () => place() })

  const member = (change: (sound: Member) => Partial<Member>) => (store: OpenStore) => {
    const sound = store.membership!
    const methods = Object.fromEntries(
      ['announce', 'limit', 'onOwnership', 'isLeased', 'health'].map((name) => [
        name,
        (sound[name as keyof Member] as (...args: unknown[]) => unknown).bind(sound),
      ]),
    )
    const { ownership, exchange, joinedAfter } = sound
    return { membership: { ...methods, ownership, exchange, joinedAfter, ...change(sound) } as Member }
  }
  const frontier = (change: Partial<OpenStore['frontier']>, { frontier: sound }: OpenStore) => ({
    frontier: new Proxy(sound, {
      get(target, name) {
        const value = Reflect.get(change, name) ?? Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    }),
  })

  const MUTANTS: Record<string, [title: string, change: (store: OpenStore) => Partial<OpenStore>]> = {
    'says that it is done when it has nothing itself': [
      'nobody is done',
      member(({ exchange }) => ({ exchange: { ...exchange, rest: () => true } })),
    ],
    'does not share limits': [
      'limits are those',
      member((sound) => ({
        limit: (limits) => {
          const { pages, requests } = sound.limit({ ...limits, pages: Number.POSITIVE_INFINITY })
          return { pages, requests }
        },
      })),
    ],
    'keeps announced URLs to itself': ['announced URLs', member(() => ({ announce() {} }))],
    'takes every partition for its own': [
      'no two have',
      member(({ ownership }) => ({
        ownership: { ...ownership, self: ownership.self, ownerOf: () => ownership.self },
      })),
    ],
    'does not know its leases': ['a visit in flight', member(() => ({ isLeased: () => false }))],
    'drops requests for others': [
      'arrive there',
      (store) =>
        frontier(
          {
            add: (requests) => {
              const { ownership } = store.membership!
              const mine = requests.filter(
                ({ host }) => ownership.ownerOf(Number(/\d+/.exec(host)![0]) % 8) === ownership.self,
              )
              return store.frontier.add(mine)
            },
          },
          store,
        ),
    ],
  }

  it.each(Object.keys(MUTANTS))('the suite notices a store that %s', async (name) => {
    const [title, change] = MUTANTS[name]!
    const failures = await failuresOf((register) =>
      membershipSuite({
        // The other cases may fail too, and would be waited for.
        it: (each, run) => (each.includes(title) ? register(each, run) : undefined),
        create: () => ({ ...place(change), patienceMs: MUTANT_MS }),
      }),
    )
    expect(failures).toHaveLength(1)
  })
})
