/** How a crawl's store is opened: what it is told, and what becomes of parts that the user brings instead. */

import type { EngineParts } from '../engine/parts.js'
import { KumoError, messageOf } from '../errors.js'
import type { Frontier, SelectionPolicy } from '../frontier/contract.js'
import { firstCome } from '../frontier/selection.js'
import { frontierPart } from '../options/check.js'
import type { CrawlOptions } from '../options/options.js'
import { byDomain, byHost } from '../partition/by-host.js'
import type { HostPartitioner } from '../partition/contract.js'
import type { RefreshSchedule } from '../refresh/refresh-schedule.js'
import type { OpenStore, Outbox, StoreCondition, StoreContext } from '../stores/contract.js'
import { memory } from '../stores/memory.js'
import { forgetful } from '../stores/memory-state.js'
import type { Clock } from '../time.js'
import type { CrawlRequest } from '../types.js'
import { loadSiteOf } from '../url/site.js'
import { readBatch } from '../workers/exchange/codec.js'
import type { Closer } from './closing.js'

/** What stored data depends on. */
type StoredOptions = Pick<CrawlOptions, 'partitioner' | 'limit' | 'delayMs' | 'perHost' | 'urls' | 'refresh'>

/** How hosts are dealt out. Where sites are limited all hosts of one are together, for one shard counts its pages. */
export async function partitionerOf(options: StoredOptions): Promise<HostPartitioner> {
  if (options.partitioner !== undefined) return options.partitioner
  return limitsSites(options) ? byDomain(await loadSiteOf()) : byHost()
}

/** What a store is told of a crawl, whoever opens it. */
export function storeContext(
  options: StoredOptions,
  partitioner: HostPartitioner,
  clock: Clock,
  refresh?: RefreshSchedule,
): StoreContext {
  const { partitions } = partitioner
  return {
    politeness: {
      delayMs: options.delayMs,
      ...options.perHost,
      ...(options.refresh && { revisitShare: options.refresh.share }),
    },
    policy: refresh === undefined ? firstCome : refreshFirst(refresh),
    clock,
    partitions,
    partitionOf: (host) => partitioner.partition(host),
    identity: identityOf(options, partitions),
  }
}

/** Known pages by their schedule, new ones as they come. */
function refreshFirst(refresh: RefreshSchedule): SelectionPolicy {
  return (host) => (host.revisits ? refresh.policy(host) : host.readyAt)
}

export function limitsSites({ limit }: Pick<CrawlOptions, 'limit'>): boolean {
  return limit.pagesPerSite < Number.POSITIVE_INFINITY
}

/** What a change of these would make of stored data: URLs spelled otherwise, hosts looked for in another place. */
function identityOf(options: StoredOptions, partitions: number): Record<string, string> {
  const { urls, partitioner: partition } = options
  const dealtBy = limitsSites(options) ? 'site' : 'host'
  return {
    'partition (number of partitions)': String(partitions),
    'limit({ pagesPerSite }) (whether hosts are kept by site)': partition === undefined ? dealtBy : 'own',
    'urls({ drop })': [...urls.drop].sort().join(' '),
  }
}

export async function openStore(
  options: CrawlOptions,
  context: StoreContext,
  closers: Closer[],
): Promise<
  Pick<EngineParts, 'frontier' | 'seen' | 'memory' | 'handover' | 'leftovers'> & {
    outbox: Outbox | undefined
  }
> {
  const store = options.store ?? memory()
  try {
    const open = await store.open(context)
    closers.push([`the ${store.name} store`, () => open.close()])
    const frontier = await ownFrontier(options, context)
    if (frontier !== undefined) closers.push(['the frontier', () => frontier.close()])
    if (options.seenStore !== undefined) closers.push(['the seen-set', () => options.seenStore?.close()])
    const memory = {
      state: open.state ?? forgetful,
      condition: () => open.condition?.() ?? OK,
      onCommit: (write: () => void) => open.onCommit?.(write),
    }
    const { handover, outbox } = open
    const parts = { frontier: frontier ?? open.frontier, seen: options.seenStore ?? open.seen, memory }
    return { ...parts, handover, outbox, leftovers: leftoversOf(open) }
  } catch (error) {
    if (error instanceof KumoError) throw error
    const message = `the ${store.name} store could not be opened: ${messageOf(error)}`
    throw new KumoError('KUMO_STORE_FAILED', message, { cause: error })
  }
}

/** What shards of an earlier run had sent to each other when it ended suddenly; each batch goes once it is taken in. */
async function* leftoversOf(store: OpenStore): AsyncGenerator<readonly CrawlRequest[]> {
  if (store.leftovers === undefined) return
  for await (const { id, text } of store.leftovers()) {
    yield readBatch(text)
    store.dropLeftover?.(id)
  }
}

const OK: StoreCondition = Object.freeze({ state: 'ok' })

async function ownFrontier({ frontier }: CrawlOptions, context: StoreContext): Promise<Frontier | undefined> {
  if (typeof frontier !== 'function') return frontier
  try {
    return frontierPart('what the function given to frontier() returned', await frontier(context))
  } catch (error) {
    if (error instanceof KumoError) throw error
    const message = `the function given to frontier() threw: ${messageOf(error)}`
    throw new KumoError('KUMO_STORE_FAILED', message, { cause: error })
  }
}
