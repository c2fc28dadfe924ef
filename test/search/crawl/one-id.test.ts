/**
 * Several workers index pages with the same ids of the user's own at the same moment. Messages between them, and the
 * functions that make documents, take as long as a seed decides.
 */

import { expect, test } from 'vitest'
import { pageOf } from '../../../src/conformance/page.js'
import type { HookPeers, PeerReceiver } from '../../../src/hooks/contract.js'
import { OwnShards } from '../../../src/search/crawl/own-shards.js'
import { PageIndexer } from '../../../src/search/crawl/page-indexer.js'
import { nextTurn, type Random, seededRandom } from '../../../src/time.js'
import { freshFolder, opened } from '../corpus.js'

const SCHEDULES = 40
const WORKERS = 3
const PAGES = 4
const IDS = ['https://a.example/', 'https://b.example/', 'urn:own']

/** Carries messages between workers, in order between each two of them, when `deliver` is called. */
class Network {
  readonly #receivers: PeerReceiver[] = []
  readonly #links = new Map<
    string,
    { readonly from: number; readonly to: number; readonly messages: unknown[] }
  >()

  peers(self: number): HookPeers {
    return {
      count: WORKERS,
      replaces: false,
      receive: (receiver) => {
        this.#receivers[self] = receiver
      },
      post: (worker, message) => {
        const name = `${self}-${worker}`
        const link = this.#links.get(name) ?? { from: self, to: worker, messages: [] }
        this.#links.set(name, link)
        link.messages.push(structuredClone(message))
      },
      pack: (page) => ({ content: page, transfer: [] }),
      unpack: (page) => page as never,
    }
  }

  /** Delivers a message of one link; false if there is none. */
  deliver(random: Random): boolean {
    const waiting = [...this.#links.values()].filter(({ messages }) => messages.length > 0)
    const link = waiting[Math.floor(random.next() * waiting.length)]
    if (link === undefined) return false
    this.#receivers[link.to]!.message(link.from, link.messages.shift())
    return true
  }
}

/** Indexes pages in all workers at once; returns the ids that they were given. */
async function indexedTogether(path: string, seed: number): Promise<string[]> {
  const random = seededRandom(seed)
  const network = new Network()
  const pause = async (turns: number) => {
    for (let left = Math.floor(random.next() * turns); left > 0; left--) await nextTurn()
  }
  const document = async ({ url }: { readonly url: string }) => {
    await pause(20)
    return { id: new URL(url).searchParams.get('id') ?? url, url, title: url }
  }
  const rules = { language: undefined, fields: [], document }
  const indexers = await Promise.all(
    Array.from({ length: WORKERS }, async (_, worker) => {
      const shards = await OwnShards.open({
        path,
        writer: { sync: false },
        worker,
        workers: WORKERS,
        replaces: false,
      })
      return new PageIndexer(shards, rules, worker, network.peers(worker), false)
    }),
  )
  const used = new Set<string>()
  const puts = indexers.flatMap((indexer, worker) =>
    Array.from({ length: PAGES }, async (_, page) => {
      await pause(60)
      const id = IDS[Math.floor(random.next() * IDS.length)]!
      used.add(id)
      // A worker's page whose own URL is the id, or one that is given the id by the function.
      const url =
        id === IDS[worker] && worker < 2
          ? id
          : `https://${worker}.example/${page}?id=${encodeURIComponent(id)}`
      await indexer.put(pageOf({ url, body: '' }))
    }),
  )
  let isDone = false
  const ended = Promise.all(puts)
    .then(() => Promise.all(indexers.map((indexer) => indexer.flush())))
    .then(() => Promise.all(indexers.map((indexer) => indexer.close())))
    .finally(() => {
      isDone = true
    })
  while (!isDone) {
    if (random.next() < 0.5) network.deliver(random)
    await nextTurn()
  }
  await ended
  return [...used].sort()
}

test('each id is in one shard, whatever the order of messages', async () => {
  for (let seed = 1; seed <= SCHEDULES; seed++) {
    const path = freshFolder()
    const ids = await indexedTogether(path, seed)
    const index = await opened(path)
    const { documents } = await index.stats()
    expect(documents, `seed ${seed}`).toBe(ids.length)
    for (const id of ids) expect((await index.get(id))?.id, `seed ${seed}`).toBe(id)
  }
})
