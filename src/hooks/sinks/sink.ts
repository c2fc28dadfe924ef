import { invalidOption, KumoError, sentence } from '../../errors.js'
import type { Page } from '../../extract/contract.js'
import type { Hook } from '../contract.js'
import { Batches } from './batches.js'
import type { PageRecord, Sink, SinkStats } from './contract.js'
import { DeadLetters } from './dead-letters.js'
import { pageRecord } from './record.js'
import { sinkSettings, text } from './settings.js'

/** A hook that writes pages to a sink. */
export interface SinkHook<Data extends object = object> extends Hook<Data> {
  /** What it has written since the crawl began. */
  stats(): SinkStats
}

const NOTHING: SinkStats = { written: 0, batches: 0, retries: 0, dead: 0, repeated: 0, waiting: 0 }

/**
 * Makes a hook of a sink: it collects pages into batches, writes one batch at a time, slows the crawl down if the sink is
 * slow, repeats what fails, keeps what cannot be written in the crawl's store, and is flushed before the crawl commits.
 *
 * @example
 * const toQueue = sink({
 *   name: 'queue',
 *   record: (page) => ({ url: page.url, title: page.title }),
 *   write: async (batch) => {
 *     await queue.send(batch.map(({ id, record }) => ({ id, body: JSON.stringify(record) })))
 *   },
 * })
 * await new Crawler().seeds('https://example.com/').use(toQueue).run()
 */
export function sink<Item = PageRecord, Data extends object = object>(
  given: Sink<Item, Data>,
): SinkHook<Data> {
  text('sink.name', given?.name, 'a text: it names the sink in messages and in the store')
  for (const method of ['record', 'open', 'write', 'flush', 'has', 'close'] as const) {
    const isMissing = given[method] === undefined && method !== 'write'
    if (!isMissing && typeof given[method] !== 'function')
      throw invalidOption(`sink.${method}`, given[method], 'a function')
  }
  const settings = sinkSettings(given.name, given)
  const record = given.record ?? (pageRecord as unknown as (page: Page<Data>) => Item)
  let batches: Batches<Item> | undefined
  let last: SinkStats = NOTHING
  return {
    name: given.name,
    async open({ state, worker = 0 }) {
      if (batches !== undefined) throw inUse(given.name)
      const dead = new DeadLetters<Item>(state, settings.mostDead)
      const opened = new Batches(given, settings, dead)
      batches = opened
      try {
        await dead.open()
        await given.open?.({ state, clock: settings.clock, worker })
      } catch (error) {
        batches = undefined
        throw error
      }
      await opened.revive()
    },
    page(page) {
      const run = batches
      if (run === undefined) throw new KumoError('KUMO_SINK_FAILED', `the sink '${given.name}' is closed`)
      if (given.has?.(page) === true) {
        run.repeated++
        return
      }
      const kept = record(page)
      if (kept === undefined) return
      return run.add({ id: page.id, url: page.url, change: page.change, record: kept }, sizeOf(kept))
    },
    async flush() {
      await batches?.flush()
      await given.flush?.()
    },
    async close() {
      const run = batches
      if (run === undefined) return
      batches = undefined
      await run.close()
      last = run.stats
      warnOf(given.name, last.dead, run.lastReason)
      await given.close?.()
    },
    stats: () => batches?.stats ?? last,
  }
}

/** Once for each run, so that nobody takes a crawl whose pages went nowhere for a success. */
function warnOf(name: string, dead: number, reason: string | undefined): void {
  if (dead === 0 || reason === undefined) return
  const message =
    `the sink '${name}' has ${dead} ${dead === 1 ? 'page' : 'pages'} that could not be written (${sentence(reason)}) The next ` +
    'run writes them again if the crawl has a durable store such as level(); otherwise they are lost'
  process.emitWarning(message, { type: 'KumoWarning' })
}

function inUse(name: string): KumoError {
  const message = `the sink '${name}' is already used by a crawl that runs; make one for each crawl`
  return new KumoError('KUMO_SINK_FAILED', message)
}

/** What a value costs besides its texts. */
const OVERHEAD = 32

/** Bytes of a record, roughly: texts at the top count, nested ones hardly. */
function sizeOf(record: unknown): number {
  if (typeof record === 'string') return record.length
  if (record instanceof Uint8Array) return record.byteLength
  if (typeof record !== 'object' || record === null) return OVERHEAD
  let bytes = OVERHEAD
  for (const value of Object.values(record)) bytes += typeof value === 'string' ? value.length : OVERHEAD
  return bytes
}
