/** What the tests of the store on disk share: opening it as a crawl does, filling it, and looking at all that it holds. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  type CrawlRequest,
  type Frontier,
  type KumoErrorCode,
  type LevelOptions,
  level,
  type StoreEvent,
} from 'kumo'
import { byHost, type OpenStore, type StoreContext, systemClock } from 'kumo/adapters'
import { Level } from 'level'
import { afterAll, expect } from 'vitest'
import { EVERYTHING, leaseSoon } from '../../../src/conformance/durable/lives.js'
import { A_DAY_MS } from '../../../src/conformance/frontier/fixtures.js'
import { firstCome } from '../../../src/frontier/selection.js'
import { rejectionOf } from '../../crawler/support.js'

const PARTITIONS = 4

export interface Opened extends OpenStore {
  flush(): Promise<void>
  /** What the store told. */
  readonly events: readonly StoreEvent[]
}

const openedStores: OpenStore[] = []

afterAll(async () => {
  for (const opened of openedStores.splice(0)) await Promise.resolve(opened.close()).catch(() => {})
})

/** Opens a folder as a crawl does. What a test leaves open is closed at the end of its file. */
export async function openStore(
  path: string,
  options: LevelOptions = {},
  context: Partial<StoreContext> = {},
): Promise<Opened> {
  const partitioner = byHost(PARTITIONS)
  const events: StoreEvent[] = []
  const opened = await level(path, options).open({
    politeness: EVERYTHING,
    policy: firstCome,
    clock: systemClock(),
    partitions: PARTITIONS,
    partitionOf: (host) => partitioner.partition(host),
    report: (event) => void events.push(event),
    ...context,
  })
  openedStores.push(opened)
  return Object.assign(opened, { events }) as Opened
}

/** Adds what is new of them, as the engine does. */
export async function takeIn(
  { seen, frontier }: OpenStore,
  requests: readonly CrawlRequest[],
): Promise<number> {
  const fresh = await seen.addAll(requests.map(({ url }) => url))
  const taken = requests.filter((_, i) => fresh[i])
  await frontier.add(taken)
  return taken.length
}

/** The URLs of all that is pending, sorted. They must be as many as the store says. */
export async function pendingUrls(frontier: Frontier): Promise<string[]> {
  const { pending } = frontier
  const leases = await leaseSoon(frontier, pending, systemClock().now() + A_DAY_MS)
  expect(leases, 'handed out, of those that `pending` counts').toHaveLength(pending)
  return leases.map(({ url }) => url).sort()
}

/** Who knows what to do reads it in the message: which folder it is about is always part of that. */
export async function expectRefusal(
  promise: Promise<unknown>,
  code: KumoErrorCode,
  ...told: readonly (string | RegExp)[]
): Promise<void> {
  const error = (await rejectionOf(promise)) as Error & { code: string }
  expect({ code: error.code, message: error.message }).toMatchObject({ code })
  for (const part of told) expect(error.message).toMatch(part)
}

/** Files of a folder that end like this, oldest first, with their paths. */
export function filesOf(path: string, ending: RegExp): string[] {
  return readdirSync(path)
    .filter((name) => ending.test(name))
    .sort()
    .map((name) => join(path, name))
}

/** Reads and writes records as they lie on disk. */
export async function withDatabase<T>(path: string, use: (database: Level) => Promise<T>): Promise<T> {
  const database = new Level(path)
  await database.open()
  try {
    return await use(database)
  } finally {
    await database.close()
  }
}
