/** What a crawl in Redis looks like from outside. Nothing is written, and no node notices. */

import { KumoError } from '../../errors.js'
import { systemClock } from '../../time.js'
import { readHost } from '../level/format/records.js'
import { feedsOf } from '../level/inspect/feeds.js'
import {
  crawlRecord,
  ENDINGS,
  type Inspection,
  type InspectOptions,
  LISTED,
} from '../level/inspect/inspect.js'
import { connect } from './client/connect.js'
import type { Command, RedisClient } from './client/contract.js'
import { RedisState } from './parts/state.js'
import { readLine } from './protocol/lines.js'
import { VERSION } from './protocol/scripts.js'
import { Journal } from './session/journal.js'
import { loadPartitions } from './session/load.js'
import { ServerTime } from './session/server-time.js'
import { check, describe, keyOf, type Settings } from './settings.js'

/** Keys whose size is asked for with one round trip. */
const KEYS_AT_ONCE = 1000

export async function inspectRedis(where: string, options: InspectOptions = {}): Promise<Inspection> {
  const settings = check(where)
  const client = await connect(settings.connection)
  try {
    return await read(client, settings, options)
  } finally {
    client.close()
  }
}

async function read(
  client: RedisClient,
  { connection, crawl }: Settings,
  { hosts = LISTED, failures = LISTED, feeds = LISTED }: InspectOptions,
): Promise<Inspection> {
  const key = keyOf(crawl)
  const where = describe(connection)
  const clock = systemClock()
  const sentAt = clock.now()
  const [time, ...replies] = await client.read([
    ['TIME'],
    ['HMGET', `${key}:n`, 'version', 'partitions', 'left', 'at'],
    ['HVALS', `${key}:nodes`],
  ])
  const [[version, partitions, left, at], leases] = replies as [(Buffer | null)[], Buffer[]]
  if (version === null || version === undefined)
    throw new KumoError('KUMO_STORE_FAILED', `redis: there is no crawl '${crawl}' on ${where}`)
  if (version.toString() !== VERSION) {
    const message = `redis: the crawl '${crawl}' has format ${version}, and this version of Kumo reads ${VERSION}`
    throw new KumoError('KUMO_STORE_MISMATCH', message)
  }
  const [seconds, micros] = (time as readonly unknown[]).map(Number)
  const now = seconds! * 1000 + micros! / 1000
  const scale = new ServerTime(clock)
  scale.learn(now, sentAt, clock.now())
  const state = new RedisState({
    ...{ client, key, journal: new Journal() },
    partitionOf: () => 0,
    flush: () => Promise.resolve(),
  })
  const counted = await count(client, key, Number(partitions), state)
  const tally = await crawlRecord(state.space('crawl'))
  const recent: Inspection['recentFailures'][number][] = []
  for await (const [, record] of state.space('failures').entries())
    recent.push(record as Inspection['recentFailures'][number])
  recent.sort((a, b) => b.at - a.at)
  const followed = await feedsOf(state, feeds)
  const inUse = leases.some((until) => Number(until) > now)
  const withMostPending = [...counted.pending]
    .sort(([, a], [, b]) => b - a)
    .slice(0, hosts)
    .map(([host, pending]) => hostOf(host, pending, counted.records.get(host), scale, clock.now()))
  return {
    path: `${where}?crawl=${crawl}`,
    format: Number(VERSION),
    state: tally?.ended === undefined ? 'crashed or running' : (ENDINGS[tally.ended] ?? 'unfinished'),
    inUse,
    runs: tally?.runs ?? 0,
    startedAt: tally?.startedAt ?? clock.now(),
    lastCommitAt: at ? scale.fromServer(Number(at)) : (tally?.startedAt ?? clock.now()),
    bytesOnDisk: await bytesOf(client, key),
    known: counted.known,
    pending: Number(left),
    pages: tally?.pages ?? 0,
    bytes: tally?.bytes ?? 0,
    failed: tally?.failed ?? 0,
    failures: tally?.failures ?? {},
    skips: tally?.skips ?? {},
    statuses: tally?.statuses ?? {},
    hosts: { total: counted.pending.size, withMostPending },
    recentFailures: recent.slice(0, failures),
    ...(followed && { feeds: followed }),
  }
}

interface Counted {
  known: number
  /** By host. */
  readonly pending: Map<string, number>
  readonly records: Map<string, string>
}

/** Reads every partition once. Of the records of hosts, only those of feeds are kept. */
async function count(
  client: RedisClient,
  key: string,
  partitions: number,
  state: RedisState,
): Promise<Counted> {
  const counted: Counted = { known: 0, pending: new Map(), records: new Map() }
  const all = Array.from({ length: partitions }, (_, partition) => partition)
  for await (const some of loadPartitions(client, key, all)) {
    for (const { stored, prints, records } of some) {
      counted.known += prints.length / 2
      for (const [, lines] of stored.blocks) {
        for (const line of lines) {
          if (line === '') continue
          const { host } = readLine(line).request
          counted.pending.set(host, (counted.pending.get(host) ?? 0) + 1)
        }
      }
      for (const [host, record] of stored.hosts)
        if (counted.pending.has(host)) counted.records.set(host, record)
      const ofFeeds = records.filter(([field]) => field.startsWith('feeds\0'))
      if (ofFeeds.length > 0) state.adopt(stored.partition, ofFeeds)
    }
  }
  return counted
}

function hostOf(
  host: string,
  pending: number,
  record: string | undefined,
  scale: ServerTime,
  now: number,
): Inspection['hosts']['withMostPending'][number] {
  const { notBefore, resting, trouble } = readHost(record ?? '')
  const until = scale.fromServer(Math.max(notBefore, ...resting, 0))
  return {
    host,
    pending,
    ...(until > now && { notBefore: until }),
    ...(trouble && { incidents: trouble.incidents }),
  }
}

/** The memory that the crawl takes. */
async function bytesOf(client: RedisClient, key: string): Promise<number> {
  let bytes = 0
  const pattern = `${key.replace(/[\\*?[\]]/g, '\\$&')}:*`
  for (let cursor = '0'; ; ) {
    const [reply] = await client.read([['SCAN', cursor, 'MATCH', pattern, 'COUNT', KEYS_AT_ONCE]])
    const [next, keys] = reply as [Buffer, Buffer[]]
    const sizes = await client.read(keys.map((each): Command => ['MEMORY', 'USAGE', each]))
    for (const size of sizes) bytes += Number(size ?? 0)
    cursor = next.toString()
    if (cursor === '0') return bytes
  }
}
