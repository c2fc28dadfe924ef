import { withRecipe } from '../../modules/recipe.js'
import type { OpenStore, Store, StoreContext } from '../contract.js'
import { Counts } from './format/counts.js'
import { FIRST_WRITER } from './format/keys.js'
import { TimeScale } from './format/time-scale.js'
import { mergeWriters, openCrawl } from './opening/opening.js'
import { check, type LevelOptions, type Settings } from './settings.js'
import { Leftovers } from './threads/outbox.js'
import { openShard } from './threads/shard.js'
import { share } from './threads/shared.js'
import { openWriter } from './threads/writer-store.js'

export type { LevelOptions } from './settings.js'

/**
 * A store in a folder. If a crawl is stopped or killed, run the same program again and it resumes where it left off.
 * Pending URLs live on disk, so memory stays small however large the crawl.
 *
 * @example
 * await new Crawler().seeds('https://example.com/').store(level('./crawl')).run()
 */
export function level(path: string, options: LevelOptions = {}): Store {
  const settings = check(path, options)
  const store: Store = {
    name: 'level',
    open(context) {
      return context.shard === undefined
        ? openAlone(settings, context)
        : openShard(settings, context, context.shard)
    },
    share: (context, shards) => share(settings, context, shards),
  }
  return withRecipe(store, 'level', settings.path, options)
}

/** A single thread owns all partitions. */
async function openAlone(settings: Settings, context: StoreContext): Promise<OpenStore> {
  const crawl = await openCrawl(settings, context)
  const { database, crashed, count, otherCounts } = crawl
  try {
    const scale = new TimeScale(context.clock, crawl.meta.time)
    const isScattered = crawl.meta.scattered.length > 0 || otherCounts.length > 0
    const meta = isScattered ? await mergeWriters(crawl, scale.mark(), false) : crawl.meta
    // Records that a run has begun: one that is killed before its first commit may have visited hosts.
    count.tryWrite(meta.first.commit)
    const counts = new Counts(context.partitions)
    const held = new Map(meta.counts.map((count) => [count.partition, count]))
    for (let partition = 0; partition < context.partitions; partition++) {
      counts.own(held.get(partition) ?? { partition, pending: 0, known: 0 })
    }
    const {
      writer,
      outbox: _,
      handover: __,
      ...opened
    } = await openWriter(settings, context, database, {
      writer: FIRST_WRITER,
      count,
      end: meta.first,
      seq: meta.seq,
      scale,
      counts,
      store: meta,
      isCautious: crashed,
      sharers: 1,
      changes: new Map(),
    })
    const leftovers = new Leftovers(database, writer.journal)
    return {
      ...opened,
      leftovers: () => leftovers.read(() => true),
      dropLeftover: (id) => leftovers.drop(id),
    }
  } catch (error) {
    count.abandon()
    await database.close().catch(() => {})
    throw error
  }
}
