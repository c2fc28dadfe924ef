import { resolve } from 'node:path'
import type { FeedsInspection } from '../../../feeds/follow/contract.js'
import { type Clock, systemClock } from '../../../time.js'
import type { FailureCode, SkipReason } from '../../../types.js'
import type { StateSpace } from '../../contract.js'
import { sizeOf, withCopy } from '../db/copy.js'
import type { Database } from '../db/database.js'
import { noCrawl } from '../db/errors.js'
import { CommitCount, holdsDatabase } from '../db/folder.js'
import { totalOf } from '../format/counts.js'
import { entryOf, hostIn, META } from '../format/keys.js'
import { type Meta, readMeta, readWriterMeta } from '../format/meta.js'
import { type HostRecord, readHost } from '../format/records.js'
import { TimeScale } from '../format/time-scale.js'
import { readStoreMeta } from '../opening/store-meta.js'
import { levelState } from '../state.js'
import { feedsOf } from './feeds.js'

/** The state of the crawl in a folder, or in Redis. */
export interface Inspection {
  /** The folder; or the server, without user and password, and the name of the crawl. */
  readonly path: string
  /** Format of the stored data. */
  readonly format: number
  /** How the last run ended. A running crawl and one that crashed look the same here; `inUse` distinguishes them. */
  readonly state: 'done' | 'limit' | 'stopped' | 'unfinished' | 'crashed or running'
  /** Whether a process on this machine is crawling in this folder, or any process in Redis. */
  readonly inUse: boolean
  readonly runs: number
  /** Milliseconds since the epoch, like all instants here. */
  readonly startedAt: number
  readonly lastCommitAt: number
  /** In Redis: the memory that the crawl takes. */
  readonly bytesOnDisk: number
  readonly known: number
  readonly pending: number
  readonly pages: number
  readonly bytes: number
  readonly failed: number
  readonly failures: Readonly<Partial<Record<FailureCode, number>>>
  readonly skips: Readonly<Partial<Record<SkipReason, number>>>
  readonly statuses: Readonly<Record<number, number>>
  readonly hosts: {
    /** Hosts with pending requests. */
    readonly total: number
    readonly withMostPending: readonly HostInspection[]
  }
  /** The URLs that were given up last, newest first. */
  readonly recentFailures: readonly FailureInspection[]
  /** With `feeds()`. */
  readonly feeds?: FeedsInspection
}

export interface HostInspection {
  readonly host: string
  readonly pending: number
  /** The host is not visited before this; absent if it may be visited now. */
  readonly notBefore?: number
  /** Consecutive failures; absent if there are none. */
  readonly incidents?: number
}

export interface FailureInspection {
  readonly url: string
  readonly code: FailureCode
  readonly message: string
  readonly status?: number
  readonly attempt: number
  readonly at: number
}

export interface InspectOptions {
  /** Number of hosts to list. Default 20. */
  hosts?: number | undefined
  /** Number of failures to list. Default 20. */
  failures?: number | undefined
  /** Number of feeds to list. Default 20. */
  feeds?: number | undefined
}

export const LISTED = 20

/** Reads the state of a crawl from its folder: see `inspectCrawl`. */
export async function inspectFolder(path: string, options: InspectOptions = {}): Promise<Inspection> {
  const folder = resolve(path)
  const { hosts = LISTED, failures = LISTED, feeds = LISTED } = options
  if (!holdsDatabase(folder)) throw noCrawl(folder)
  return withCopy(folder, (database) => read(folder, database, systemClock(), hosts, failures, feeds))
}

async function read(
  folder: string,
  database: Database,
  clock: Clock,
  most: number,
  failures: number,
  feeds: number,
): Promise<Inspection> {
  const record = await database.get(META)
  const stored = await readMeta(folder, database, {})
  if (record === undefined || stored === undefined) throw noCrawl(folder)
  const { format } = database.decode(META, readWriterMeta<Meta>, record)
  const meta = await readStoreMeta(database, stored)
  const scale = new TimeScale(clock, meta.time)
  const state = levelState({ database, partitions: PARTITIONS, partitionOf: () => 0 })
  const crawl = await crawlRecord(state.space('crawl'))
  const recent: FailureInspection[] = []
  for await (const [, record] of state.space('failures').entries()) recent.push(record as FailureInspection)
  recent.sort((a, b) => b.at - a.at)
  const ended = crawl?.ended
  const ofHosts = levelState({ database, partitions: MOST_PARTITIONS, partitionOf: () => 0 })
  const followed = await feedsOf(ofHosts, feeds)
  return {
    path: folder,
    format,
    state: ended === undefined ? 'crashed or running' : (ENDINGS[ended] ?? 'unfinished'),
    inUse: new CommitCount(folder).isOwned(),
    runs: crawl?.runs ?? 0,
    startedAt: crawl?.startedAt ?? scale.fromStore(meta.time!.at),
    lastCommitAt: scale.fromStore(meta.time!.at),
    bytesOnDisk: await sizeOf(folder),
    known: totalOf(meta.counts, 'known'),
    pending: totalOf(meta.counts, 'pending'),
    pages: crawl?.pages ?? 0,
    bytes: crawl?.bytes ?? 0,
    failed: crawl?.failed ?? 0,
    failures: crawl?.failures ?? {},
    skips: crawl?.skips ?? {},
    statuses: crawl?.statuses ?? {},
    hosts: await hostsOf(database, scale, clock.now(), most),
    recentFailures: recent.slice(0, failures),
    ...(followed && { feeds: followed }),
  }
}

/** Records of the crawl itself are in the first partition, whatever the number of partitions. */
const PARTITIONS = 1
/** Keys have four hexadecimal digits for the partition of a host. */
const MOST_PARTITIONS = 0x10000

type CrawlRecord = Pick<
  Inspection,
  'runs' | 'startedAt' | 'pages' | 'bytes' | 'failed' | 'failures' | 'skips' | 'statuses'
> & { readonly ended?: string }

/** Each shard has its own counts: see engine/stats/ledger.ts. */
const TALLY = /^tally( \d+)?$/

export async function crawlRecord(space: StateSpace): Promise<CrawlRecord | undefined> {
  let sum: CrawlRecord | undefined
  for await (const [name, record] of space.entries()) {
    if (TALLY.test(name))
      sum = sum === undefined ? (record as CrawlRecord) : added(sum, record as CrawlRecord)
  }
  return sum
}

function added(a: CrawlRecord, b: CrawlRecord): CrawlRecord {
  const { ended, ...counts } = {
    runs: Math.max(a.runs, b.runs),
    startedAt: Math.min(a.startedAt, b.startedAt),
    pages: a.pages + b.pages,
    bytes: a.bytes + b.bytes,
    failed: a.failed + b.failed,
    failures: addedEach(a.failures, b.failures),
    skips: addedEach(a.skips, b.skips),
    statuses: addedEach(a.statuses, b.statuses),
    // The crawl is done when all shards are.
    ended: ENDINGS[a.ended ?? ''] === 'done' ? b.ended : a.ended,
  }
  return ended === undefined ? counts : { ...counts, ended }
}

function addedEach<T extends Readonly<Record<PropertyKey, number | undefined>>>(a: T, b: T): T {
  const sum: Record<PropertyKey, number | undefined> = { ...a }
  for (const [name, count] of Object.entries(b)) sum[name] = (sum[name] ?? 0) + (count ?? 0)
  return sum as T
}

export const ENDINGS: Readonly<Record<string, Inspection['state']>> = {
  done: 'done',
  'already-done': 'done',
  limit: 'limit',
  stopped: 'stopped',
}

async function hostsOf(
  database: Database,
  scale: TimeScale,
  now: number,
  most: number,
): Promise<Inspection['hosts']> {
  const later = await pendingByHost(database, 'l', 'm')
  const { total, top } = await mostPending(database, later, most)
  const records = new Map<string, HostRecord>()
  const wanted = new Set(top.map(({ host }) => host))
  for await (const entries of database.scan({ from: 'q', to: 'r' })) {
    for (const [key, record] of entries) {
      const { host, wakes } = entryOf(key)
      if (!wakes && wanted.has(host)) records.set(host, database.decode(key, readHost, record))
    }
  }
  const withMostPending = top.map(({ host, pending }) => {
    const { notBefore, resting, trouble } = records.get(host) ?? readHost('')
    const until = scale.fromStore(Math.max(notBefore, ...resting, 0))
    return {
      host,
      pending,
      ...(until > now && { notBefore: until }),
      ...(trouble && { incidents: trouble.incidents }),
    }
  })
  return { total, withMostPending }
}

/** Number of requests of each host in a range. Few hosts have requests scheduled for later. */
async function pendingByHost(database: Database, from: string, to: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for await (const keys of database.scanKeys({ from, to })) {
    for (const key of keys) counts.set(hostIn(key), (counts.get(hostIn(key)) ?? 0) + 1)
  }
  return counts
}

/** Keys are sorted by host, so only the hosts with most requests need to be remembered. */
async function mostPending(database: Database, later: Map<string, number>, most: number) {
  let top: { host: string; pending: number }[] = []
  let total = 0
  let current = { host: '', pending: 0 }
  const close = () => {
    if (current.host === '') return
    total++
    const pending = current.pending + (later.get(current.host) ?? 0)
    later.delete(current.host)
    top.push({ host: current.host, pending })
    if (top.length >= 2 * most + 100) top = best(top, most)
  }
  for await (const keys of database.scanKeys({ from: 'p', to: 'q' })) {
    for (const key of keys) {
      const host = hostIn(key)
      if (host !== current.host) {
        close()
        current = { host, pending: 0 }
      }
      current.pending++
    }
  }
  close()
  for (const [host, pending] of later) {
    total++
    top.push({ host, pending })
  }
  return { total, top: best(top, most) }
}

function best(hosts: { host: string; pending: number }[], most: number) {
  return hosts.sort((a, b) => b.pending - a.pending).slice(0, most)
}
