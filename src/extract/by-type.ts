import { messageOf } from '../errors.js'
import type { FetchedResponse } from '../fetch/contract.js'
import { type Clock, isThenable, LATE, Waits } from '../time.js'
import type { Change, CrawlRequest, Link, MaybePromise } from '../types.js'
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
import { sitemapSlices } from './sitemap/sitemap.js'

/** What an extractor without `mediaTypes` is given. */
const MARKUP_TYPES: readonly string[] = ['text/html', 'application/xhtml+xml']

export interface ExtractionOptions {
  readonly extractors: readonly Extractor[]
  readonly clock: Clock
  /** How long one extractor may take for one page. */
  readonly timeoutMs: number
  /** The name under which robots meta elements and X-Robots-Tag speak to this crawler alone. */
  readonly product?: string | undefined
}

/**
 * All extractors of a crawl, each given the pages of its media types. Links of HTML come from the scanner, always;
 * extractors add to them.
 */
export function extraction(options: ExtractionOptions): ExtractionStep {
  return new ByType(options)
}

class ByType implements ExtractionStep {
  readonly #extractors: readonly { extractor: Extractor; wants: (mediaType: string) => boolean }[]
  readonly #waits: Waits
  readonly #product: string | undefined
  readonly #opened: Extractor[] = []
  /** Few types are ever met, and each is met on every page. */
  readonly #answers = new Map<string, boolean>()

  constructor({ extractors, clock, timeoutMs, product }: ExtractionOptions) {
    this.#extractors = extractors.map((extractor) => ({
      extractor,
      wants: typeMatcher(extractor.mediaTypes ?? MARKUP_TYPES),
    }))
    this.#waits = new Waits(clock, timeoutMs)
    this.#product = product?.toLowerCase()
  }

  wants(mediaType: string): boolean {
    let answer = this.#answers.get(mediaType)
    if (answer === undefined) {
      answer = isMarkup(mediaType) || this.#extractors.some(({ wants }) => wants(mediaType))
      if (this.#answers.size < MEDIA_TYPES_REMEMBERED) this.#answers.set(mediaType, answer)
    }
    return answer
  }

  pageOf(request: CrawlRequest, response: FetchedResponse, timing: FetchTiming): Page {
    return new FetchedPage(request, response, timing, this.#product)
  }

  setChange(page: Page, change: Change): void {
    ;(page as FetchedPage).change = change
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
        // One extractor asked for time; those after it keep their turn.
        after = after.then(async (before) => {
          const own = await this.#runOne(extractor, page)
          return before ?? own
        })
        continue
      }
      const answer = this.#runOne(extractor, page)
      if (answer instanceof Promise) after = answer.then((own) => problem ?? own)
      else problem ??= answer
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
      const answer = extractor.extract(page)
      if (isThenable(answer)) return this.#awaitOne(extractor, page, answer)
      keep(page, answer)
      return undefined
    } catch (error) {
      return failed(extractor, error)
    }
  }

  async #awaitOne(
    extractor: Extractor,
    page: FetchedPage,
    answer: PromiseLike<Extraction | undefined | void>,
  ): Promise<ExtractionProblem | undefined> {
    try {
      const value = await this.#waits.wait(answer)
      if (value !== LATE) {
        keep(page, value)
        return undefined
      }
      const message = `extractor '${extractor.name}' did not return within ${this.#waits.ms} ms`
      return { code: 'extract-timeout', message }
    } catch (error) {
      return failed(extractor, error)
    }
  }
}

const MEDIA_TYPES_REMEMBERED = 1000

/** A class and not a literal: see docs/decisions/0008. */
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

function keep(page: FetchedPage, extraction: Extraction | undefined | void): void {
  if (!extraction) return
  if (extraction.data !== undefined) page.data = { ...page.data, ...extraction.data }
  if (extraction.links === undefined) return
  // To the compiler a string is a list of strings; to a crawl it would be a link for each letter.
  if (typeof extraction.links === 'string') throw new TypeError('it returned a string for a list of links')
  const links: Link[] = []
  for (const link of extraction.links) {
    if (typeof link === 'string') links.push({ href: link, tag: 'plugin' })
    else if (typeof link?.href === 'string') links.push(link)
    else throw new TypeError(`it returned something that is not a link: ${String(link)}`)
  }
  page.found = page.found.with(links)
}

function failed(extractor: Extractor, error: unknown): ExtractionProblem {
  const message = `extractor '${extractor.name}' threw: ${messageOf(error)}`
  return { code: 'extract-failed', message, cause: error }
}

/** `text/html` matches itself, `image/*` all images, and `*` followed by `/*` everything. */
function typeMatcher(patterns: readonly string[]): (mediaType: string) => boolean {
  const exact = new Set(patterns.map((pattern) => pattern.toLowerCase()))
  if (exact.has('*/*')) return () => true
  return (mediaType) =>
    exact.has(mediaType) || exact.has(`${mediaType.slice(0, mediaType.indexOf('/') + 1)}*`)
}
