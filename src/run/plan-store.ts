/** Opens the store of a crawl, and puts the user's own frontier and seen-set in place of the store's. */

import type { EngineParts } from '../engine/parts.js'
import { KumoError, messageOf } from '../errors.js'
import type { Frontier, SelectionPolicy } from '../frontier/contract.js'
import { firstCome } from '../frontier/selection.js'
import { frontierPart } from '../options/check.js'
import type { CrawlOptions, GivenOptions } from '../options/options.js'
import type { HostPartitioner } from '../partition/contract.js'
import type { RefreshSchedule } from '../refresh/refresh-schedule.js'
import type { OpenStore, Outbox, StoreCondition, StoreContext } from '../stores/contract.js'
import { forgetful } from '../stores/memory-state.js'
import type { Clock } from '../time.js'
import type { CrawlRequest, MaybePromise } from '../types.js'
import { rewriteIdentity } from '../url/rewrite.js'
import { readBatch } from '../workers/exchange/codec.js'
import type { Closer } from './closing.js'
import { hostPoliteness } from './host-rules.js'
import { keepsCookies, limitsSites, storeOf } from './plan-defaults.js'

/** The options that affect what is stored, and where. */
type StoredOptions = Pick<
  CrawlOptions,
  'partitioner' | 'limit' | 'delayMs' | 'perHost' | 'hosts' | 'urls' | 'rewrite' | 'refresh'
> &
  Pick<GivenOptions, 'access' | 'hooks'>

/** What a store must know about the crawl, in whichever thread it is opened. */
export function storeContext(
  options: StoredOptions,
  partitioner: HostPartitioner,
  clock: Clock,
  refresh?: RefreshSchedule,
): StoreContext {
  const { partitions } = partitioner
  const hosts = hostPoliteness(options)
  return {
    politeness: {
      delayMs: options.delayMs,
      ...options.perHost,
      ...(hosts && { hosts }),
      ...(options.refresh && { revisitShare: options.refresh.share }),
    },
    policy: refresh === undefined ? firstCome : refreshFirst(refresh),
    clock,
    partitions,
    partitionOf: (host) => partitioner.partition(host),
    identity: identityOf(options, partitions),
    ...(keepsCookies(options) && { isPrivate: true }),
  }
}

/** Revisits by their schedule, new pages in the order of their hosts' turns. */
function refreshFirst(refresh: RefreshSchedule): SelectionPolicy {
  return (host) => (host.revisits ? refresh.policy(host) : host.readyAt)
}

/**
 * Options that must not change between runs of one store: URLs would be spelled differently, or hosts looked for in
 * another partition. The keys are stored and compared, so they keep their names.
 */
function identityOf(options: StoredOptions, partitions: number): Record<string, string> {
  const { urls, partitioner, rewrite } = options
  const drop = [...urls.drop].sort().join(' ')
  const rules = rewriteIdentity(rewrite)
  const groupedBy = limitsSites(options) ? 'site' : 'host'
  return {
    'partition (number of partitions)': String(partitions),
    'limit({ pagesPerSite }) (whether hosts are kept by site)': partitioner === undefined ? groupedBy : 'own',
    // Together, so that crawls from before there were rules are compared too.
    'urls({ drop })': rules === '' ? drop : `${drop} rewrite: ${rules}`.trim(),
  }
}

/** @throws KumoError `KUMO_STORE_FAILED`, or the error of the store if it is a KumoError. */
export async function openStore(
  options: CrawlOptions,
  context: StoreContext,
  closers: Closer[],
): Promise<
  Pick<EngineParts, 'frontier' | 'seen' | 'storeState' | 'handover' | 'leftovers' | 'membership'> & {
    outbox: Outbox | undefined
  }
> {
  const store = storeOf(options)
  try {
    const open = await store.open(context)
    closers.push([`the ${store.name} store`, () => open.close()])
    const frontier = await ownFrontier(options, context)
    if (frontier !== undefined) closers.push(['the frontier', () => frontier.close()])
    if (options.seenStore !== undefined) closers.push(['the seen-set', () => options.seenStore?.close()])
    const storeState = {
      state: open.state ?? forgetful,
      condition: () => open.condition?.() ?? OK,
      onCommit: (write: () => void) => open.onCommit?.(write),
      beforeCommit: (prepare: () => MaybePromise<void>) => open.beforeCommit?.(prepare),
      flushesFirst: open.flush !== undefined && open.beforeCommit === undefined && hasFlushes(options),
      flush: () => open.flush?.(),
    }
    const { handover, outbox, membership } = open
    const parts = { frontier: frontier ?? open.frontier, seen: options.seenStore ?? open.seen, storeState }
    return { ...parts, handover, outbox, leftovers: leftoversOf(open), membership }
  } catch (error) {
    if (error instanceof KumoError) throw error
    const message = `the ${store.name} store could not be opened: ${messageOf(error)}`
    throw new KumoError('KUMO_STORE_FAILED', message, { cause: error })
  }
}

/**
 * Batches that shards of an earlier run had sent to each other when it was interrupted. Each is dropped once the next one is
 * asked for, which means that it was admitted.
 */
async function* leftoversOf(store: OpenStore): AsyncGenerator<readonly CrawlRequest[]> {
  if (store.leftovers === undefined) return
  for await (const { id, text } of store.leftovers()) {
    yield readBatch(text)
    store.dropLeftover?.(id)
  }
}

function hasFlushes({ hooks }: CrawlOptions): boolean {
  return hooks.some(({ flush, skip }) => flush !== undefined || skip !== undefined)
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
