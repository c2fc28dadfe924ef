/** The hook that makes the pages of a crawl searchable while it runs. */

import { assertKeys, invalidOption, KumoError } from '../errors.js'
import type { Page } from '../extract/contract.js'
import type { Hook } from '../hooks/contract.js'
import type { Failure, MaybePromise, Redirect, Skip } from '../types.js'
import type { FieldValue, IndexWriter, SearchDocument, SearchSection, WriterOptions } from './contract.js'
import { checkSegmenters, checkSettings } from './index/settings.js'
import { openWriter } from './index/writer.js'

/** How to index the pages of a crawl. */
export interface SearchIndexOptions<Data extends object = object> extends WriterOptions {
  /** The language of all pages, as a BCP 47 tag. Default: that of each page, as declared and detected. */
  readonly language?: string | undefined
  /** Makes the document of a page; undefined leaves the page out. Default: its sections, and fields of `page.data`. */
  readonly document?: ((page: Page<Data>) => MaybePromise<SearchDocument | undefined>) | undefined
}

const KEYS = ['fields', 'stemming', 'segmenters', 'shard', 'sync', 'language', 'document']
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
  const { language, document } = options
  if (language !== undefined && typeof language !== 'string')
    throw invalidOption('searchIndex().language', language, "a language tag such as 'ja'")
  if (document !== undefined && typeof document !== 'function')
    throw invalidOption('searchIndex().document', document, 'a function from a page to a document')
  return new IndexingHook(path, options)
}

class IndexingHook<Data extends object> implements Hook<Data> {
  readonly name = 'search-index'
  readonly #path: string
  readonly #options: SearchIndexOptions<Data>
  #writer: IndexWriter | undefined

  constructor(path: string, options: SearchIndexOptions<Data>) {
    this.#path = path
    this.#options = options
  }

  async open(): Promise<void> {
    const { language: _, document: __, ...options } = this.#options
    this.#writer = await openWriter(this.#path, options)
  }

  async page(page: Page<Data>): Promise<void> {
    const writer = this.#open()
    // What has not changed is there already; a page confirmed by status 304 has no body either.
    if (page.change === 'unchanged') return
    const isIndexed = page.change !== 'gone' && !page.robots.noindex && !hasOtherCanonical(page)
    const document = isIndexed ? await this.#documentOf(page) : undefined
    if ((document?.id ?? document?.url) !== page.url) await writer.delete(page.url)
    if (document !== undefined) await writer.put(document)
  }

  async failure({ url, final, status }: Failure): Promise<void> {
    if (final && status !== undefined && GONE.has(status)) await this.#open().delete(url)
  }

  async redirect({ url }: Redirect): Promise<void> {
    await this.#open().delete(url)
  }

  /** Called for every link out of scope, so only what can be about an indexed page costs anything. */
  skip({ url, reason }: Skip): MaybePromise<void> {
    if (reason === 'robots' || reason === 'media-type') return this.#open().delete(url)
  }

  async flush(): Promise<void> {
    await this.#writer?.commit()
  }

  async close(): Promise<void> {
    const writer = this.#writer
    this.#writer = undefined
    await writer?.close()
  }

  #open(): IndexWriter {
    if (this.#writer === undefined)
      throw new KumoError('KUMO_INDEX_FAILED', `${this.#path}: the hook is not open, or was closed`)
    return this.#writer
  }

  async #documentOf(page: Page<Data>): Promise<SearchDocument | undefined> {
    const { document, language, fields = {} } = this.#options
    if (document !== undefined) return document(page)
    return {
      url: page.url,
      title: page.title,
      language: language ?? page.language.code,
      date: dateOf(page),
      sections: sectionsOf(page),
      fields: fieldsOf(page.data as Readonly<Record<string, unknown>>, Object.keys(fields)),
    }
  }
}

/** A copy of another page of its host, which is or will be indexed itself. */
function hasOtherCanonical({ url, canonical, host }: Page): boolean {
  return canonical !== undefined && canonical !== url && new URL(canonical).host === host
}

function sectionsOf(page: Page): SearchSection[] {
  try {
    return page.sections.map(({ id, heading, path, text }) => ({ anchor: id, heading, path, text }))
  } catch (error) {
    // Too large for a tree of its elements: its text can still be found.
    if (error instanceof KumoError && error.code === 'KUMO_NO_DOCUMENT')
      return [{ heading: page.title, text: page.text }]
    throw error
  }
}

/** When it was changed or published; a date that is none is left out. */
function dateOf(page: Page): string | undefined {
  let written: string | undefined
  try {
    written = page.meta.modified ?? page.meta.published
  } catch {
    return undefined
  }
  return written === undefined || Number.isNaN(Date.parse(written)) ? undefined : written
}

function fieldsOf(
  data: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, FieldValue> | undefined {
  const found = names.filter((name) => data[name] !== undefined && data[name] !== null)
  if (found.length === 0) return undefined
  return Object.fromEntries(found.map((name) => [name, data[name] as FieldValue]))
}
