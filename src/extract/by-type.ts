import { messageOf } from '../errors.js'
import type { FetchedResponse } from '../fetch/contract.js'
import { type Clock, isThenable, LATE, Waits } from '../time.js'
import type { Change, CrawlRequest, Link, MaybePromise } from '../types.js'
import type { RequestSpec } from '../url/request-options.js'
import type { QueryEncoding } from '../url/resolve.js'
import type {
  Extracted,
  Extraction,
  ExtractionProblem,
  ExtractionStep,
  Extractor,
  FetchTiming,
  Page,
  SitemapEntry,
} from './contract.js'
import type { FoundLinks } from './html/found-links.js'
import { FetchedPage, isMarkup } from './page.js'
import { isInvalidData } from './select/invalid-data.js'
import { sitemapSlices } from './sitemap/sitemap.js'

/** The media types of an extractor that names none. */
const MARKUP_TYPES: readonly string[] = ['text/html', 'application/xhtml+xml']

export interface ExtractionOptions {
  readonly extractors: readonly Extractor[]
  readonly clock: Clock
  /** Time limit of one extractor for one page. */
  readonly timeoutMs: number
  /** The product name of a host, in lower case, by which robots meta elements and X-Robots-Tag address this crawler in particular. */
  readonly productOf?: ((host: string) => string) | undefined
}

/**
 * All extractors of a crawl; each receives the pages of its media types. The links of HTML always come from the scanner;
 * extractors add to them.
 */
export function extraction(options: ExtractionOptions): ExtractionStep {
  return new ByType(options)
}

class ByType implements ExtractionStep {
  readonly #extractors: readonly { extractor: Extractor; wants: (mediaType: string) => boolean }[]
  readonly #waits: Waits
  readonly #productOf: ((host: string) => string) | undefined
  readonly #opened: Extractor[] = []
  /** Whether each media type seen so far is wanted. A crawl sees few types, each on many pages. */
  readonly #wanted = new Map<string, boolean>()

  constructor({ extractors, clock, timeoutMs, productOf }: ExtractionOptions) {
    this.#extractors = extractors.map((extractor) => ({
      extractor,
      wants: typeMatcher(extractor.mediaTypes ?? MARKUP_TYPES),
    }))
    this.#waits = new Waits(clock, timeoutMs)
    this.#productOf = productOf
  }

  wants(mediaType: string): boolean {
    let wanted = this.#wanted.get(mediaType)
    if (wanted === undefined) {
      wanted = isMarkup(mediaType) || this.#extractors.some(({ wants }) => wants(mediaType))
      if (this.#wanted.size < MEDIA_TYPES_REMEMBERED) this.#wanted.set(mediaType, wanted)
    }
    return wanted
  }

  pageOf(request: CrawlRequest, response: FetchedResponse, timing: FetchTiming): Page {
    return new FetchedPage(request, response, timing, this.#productOf?.(request.host))
  }

  setChange(page: Page, change: Change): void {
    ;(page as FetchedPage).change = change
  }

  takeFollowed(page: Page): readonly RequestSpec[] {
    return (page as FetchedPage).takeFollowed() ?? []
  }

  settle(page: Page): readonly RequestSpec[] | undefined {
    const settled = page as FetchedPage
    settled.isSettled = true
    return settled.takeFollowed()
  }

  sitemap(body: Uint8Array): AsyncIterable<readonly SitemapEntry[]> {
    return sitemapSlices(body)
  }

  run(given: Page): MaybePromise<Extracted> {
    const page = given as FetchedPage
    let after: Promise<ExtractionProblem | undefined> | undefined
    let problem: ExtractionProblem | undefined
    for (const { extractor, wants } of this.#extractors) {
      if (!wants(page.mediaType === '' ? 'text/html' : page.mediaType)) continue
      if (after !== undefined) {
        // An earlier extractor is async: run the others after it, in order.
        after = after.then(async (before) => {
          const own = await this.#runOne(extractor, page)
          return before ?? own
        })
        continue
      }
      const result = this.#runOne(extractor, page)
      if (result instanceof Promise) after = result.then((own) => problem ?? own)
      else problem ??= result
    }
    if (after !== undefined) return after.then((late) => extracted(page, late))
    return extracted(page, problem)
  }

  async open(): Promise<void> {
    for (const { extractor } of this.#extractors) {
      await extractor.open?.()
      this.#opened.push(extractor)
    }
  }

  async close(): Promise<void> {
    this.#waits.close()
    const failures: unknown[] = []
    for (const extractor of this.#opened.splice(0)) {
      try {
        await extractor.close?.()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  #runOne(extractor: Extractor, page: FetchedPage): MaybePromise<ExtractionProblem | undefined> {
    try {
      const result = extractor.extract(page)
      if (isThenable(result)) return this.#awaitOne(extractor, page, result)
      keep(page, result)
      return undefined
    } catch (error) {
      return failed(extractor, error)
    }
  }

  async #awaitOne(
    extractor: Extractor,
    page: FetchedPage,
    result: PromiseLike<Extraction | undefined | void>,
  ): Promise<ExtractionProblem | undefined> {
    try {
      const value = await this.#waits.wait(result)
      if (value !== LATE) {
        keep(page, value)
        return undefined
      }
      const message = `extractor '${extractor.name}' did not finish within ${this.#waits.ms} ms`
      return { code: 'extract-timeout', message }
    } catch (error) {
      return failed(extractor, error)
    }
  }
}

const MEDIA_TYPES_REMEMBERED = 1000

/** A class, not an object literal: see docs/decisions/0008. */
class PageExtracted implements Extracted {
  constructor(
    readonly links: FoundLinks,
    readonly base: string,
    readonly queries: QueryEncoding | undefined,
    readonly problem: ExtractionProblem | undefined,
  ) {}
}

function extracted(page: FetchedPage, problem: ExtractionProblem | undefined): Extracted {
  return new PageExtracted(page.found, page.base, page.queries, problem)
}

/** Adds what an extractor returned to the page. */
function keep(page: FetchedPage, extraction: Extraction | undefined | void): void {
  if (!extraction) return
  if (extraction.data !== undefined) page.data = { ...page.data, ...extraction.data }
  if (extraction.links === undefined) return
  // TypeScript accepts a string as an iterable of strings; every character would become a link.
  if (typeof extraction.links === 'string')
    throw new TypeError("it returned a string as 'links'; return an array")
  const links: Link[] = []
  for (const link of extraction.links) {
    if (typeof link === 'string') links.push({ href: link, tag: 'plugin' })
    else if (typeof link?.href === 'string') links.push(checkedLink(link))
    else throw new TypeError(`it returned a link without an 'href': ${String(link)}`)
  }
  page.found = page.found.with(links)
}

function checkedLink(link: Link): Link {
  if (link.priority === undefined || Number.isFinite(link.priority)) return link
  throw new TypeError(`it returned a link whose 'priority' is not a number: ${link.href}`)
}

function failed(extractor: Extractor, error: unknown): ExtractionProblem {
  if (isInvalidData(error)) return { code: 'invalid-data', message: error.message, cause: error }
  const message = `extractor '${extractor.name}' threw: ${messageOf(error)}`
  return { code: 'extract-failed', message, cause: error }
}

/** `text/html` matches itself, `image/*` every image type, and the pattern of two asterisks everything. */
function typeMatcher(patterns: readonly string[]): (mediaType: string) => boolean {
  const exact = new Set(patterns.map((pattern) => pattern.toLowerCase()))
  if (exact.has('*/*')) return () => true
  return (mediaType) =>
    exact.has(mediaType) || exact.has(`${mediaType.slice(0, mediaType.indexOf('/') + 1)}*`)
}
