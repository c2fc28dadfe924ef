/** The hook that makes the pages of a crawl searchable while it runs. */

import { assertKeys, invalidOption, KumoError } from '../errors.js'
import type { Page } from '../extract/contract.js'
import type { FeedEvent } from '../feeds/follow/contract.js'
import type { Hook, HookContext, HookQueue, HookStage } from '../hooks/contract.js'
import { withRecipe } from '../modules/recipe.js'
import type { Failure, MaybePromise, Redirect, Skip } from '../types.js'
import type { SearchDocument, WriterOptions } from './contract.js'
import { documentOfEntry, entryId } from './crawl/entry-document.js'
import { OwnShards } from './crawl/own-shards.js'
import { isForIndex } from './crawl/page-document.js'
import { PageIndexer } from './crawl/page-indexer.js'
import { checkSegmenters, checkSettings } from './index/settings.js'

/** How to index the pages of a crawl. */
export interface SearchIndexOptions<Data extends object = object> extends WriterOptions {
  /** The language of all pages, as a BCP 47 tag. Default: that of each page, as declared and detected. */
  readonly language?: string | undefined
  /** Makes the document of a page; undefined leaves the page out. Default: its sections, and fields of `page.data`. */
  readonly document?: ((page: Page<Data>) => MaybePromise<SearchDocument | undefined>) | undefined
  /**
   * With `feeds()`: whether the entries of feeds are documents too, with the address of their article. Those that change
   * are replaced, and those that are removed leave. Default: false.
   */
  readonly entries?: boolean | undefined
  /** With workers: whether one that is busy hands pages to others that are not. Default: true. */
  readonly balance?: boolean | undefined
  /**
   * With `redis()`: whether a process that is busy leaves pages to others, whose indexes then have them. Not for crawls with
   * `refresh()`: nobody would replace or remove those pages there. Default: false.
   */
  readonly offload?: boolean | undefined
}

const KEYS = [
  'fields',
  'stemming',
  'segmenters',
  'shard',
  'sync',
  'language',
  'document',
  'entries',
  'balance',
  'offload',
]
/** Statuses of pages that are gone for good. */
const GONE: ReadonlySet<number> = new Set([404, 410])

/**
 * Indexes the pages of a crawl in a folder, for `openIndex()`. New and changed pages replace what was there; pages that
 * are gone, redirect, ask not to be indexed or name another page of their host as canonical leave. With a durable store
 * the index is never behind the crawl.
 *
 * @throws KumoError `KUMO_INVALID_OPTION`
 * @example
 * import { Crawler } from 'kumo'
 * import { openIndex, searchIndex } from 'kumo/search'
 *
 * await new Crawler().seeds('https://example.com/').use(searchIndex('./index')).run()
 * const { hits } = await (await openIndex('./index')).search('install')
 */
export function searchIndex<Data extends object = object>(
  path: string,
  options: SearchIndexOptions<Data> = {},
): Hook<Data> {
  if (typeof path !== 'string' || path === '')
    throw invalidOption('searchIndex()', path, 'the path of a folder')
  assertKeys('searchIndex()', options, KEYS)
  checkSettings('searchIndex()', options)
  checkSegmenters('searchIndex()', options.segmenters)
  const { language, document, entries = false, balance = true, offload = false } = options
  if (language !== undefined && typeof language !== 'string')
    throw invalidOption('searchIndex().language', language, "a language tag such as 'ja'")
  if (document !== undefined && typeof document !== 'function')
    throw invalidOption('searchIndex().document', document, 'a function from a page to a document')
  if (typeof entries !== 'boolean') throw invalidOption('searchIndex().entries', entries, 'true or false')
  if (typeof balance !== 'boolean') throw invalidOption('searchIndex().balance', balance, 'true or false')
  if (typeof offload !== 'boolean') throw invalidOption('searchIndex().offload', offload, 'true or false')
  const hook = new IndexingHook(path, options)
  // Functions cannot be sent to workers: with one, the hook stays in the program's thread, as other hooks do.
  const hasFunctions = document !== undefined || Object.keys(options.segmenters ?? {}).length > 0
  return hasFunctions ? hook : withRecipe(hook, 'searchIndex', path, options)
}

class IndexingHook<Data extends object> implements Hook<Data> {
  readonly name = 'search-index'
  readonly queue: HookQueue
  readonly #path: string
  readonly #options: SearchIndexOptions<Data>
  #indexer: PageIndexer | undefined

  constructor(path: string, options: SearchIndexOptions<Data>) {
    this.#path = path
    this.#options = options
    this.queue = { parallelism: 64, pages: 512, offload: options.offload }
  }

  async open({ worker = 0, peers }: Partial<HookContext> = {}): Promise<void> {
    const { language, document, entries: _, offload: __, balance = true, ...writer } = this.#options
    const shards = await OwnShards.open({
      path: this.#path,
      writer,
      worker,
      workers: peers?.count ?? 1,
      replaces: peers?.replaces === true,
    })
    const rules = { language, document, fields: Object.keys(writer.fields ?? {}) }
    this.#indexer = new PageIndexer(shards, rules, worker, peers, balance)
  }

  page(page: Page<Data>): MaybePromise<void> {
    const indexer = this.#open()
    // What has not changed is there already; a page confirmed by status 304 has no body either.
    if (page.change === 'unchanged') return
    return isForIndex(page) ? indexer.put(page) : indexer.delete(page.url)
  }

  async feed({ feed, new: added, changed, missing }: FeedEvent): Promise<void> {
    const indexer = this.#open()
    if (this.#options.entries !== true) return
    for (const entry of [...added, ...changed]) {
      const document = documentOfEntry(feed.url, entry, this.#options.language)
      if (document !== undefined) await indexer.putDocument(document)
    }
    for (const { key } of missing) await indexer.delete(entryId(feed.url, key))
    // From now on its entries have other ids.
    if (feed.movedFrom === undefined) return
    for (const { key } of [...added, ...changed, ...missing])
      await indexer.delete(entryId(feed.movedFrom, key))
  }

  async failure({ url, final, status }: Failure): Promise<void> {
    if (final && status !== undefined && GONE.has(status)) await this.#open().delete(url)
  }

  redirect({ url }: Redirect): Promise<void> {
    return this.#open().delete(url)
  }

  /** Called for every link out of scope, so only what can be about an indexed page costs anything. */
  skip({ url, reason }: Skip): MaybePromise<void> {
    if (reason === 'robots' || reason === 'media-type') return this.#open().delete(url)
  }

  stages(): Readonly<Record<string, HookStage>> {
    return this.#indexer?.stages ?? {}
  }

  async flush(): Promise<void> {
    await this.#indexer?.flush()
  }

  async close(): Promise<void> {
    const indexer = this.#indexer
    this.#indexer = undefined
    await indexer?.close()
  }

  #open(): PageIndexer {
    if (this.#indexer === undefined)
      throw new KumoError('KUMO_INDEX_FAILED', `${this.#path}: the hook is not open, or was closed`)
    return this.#indexer
  }
}
