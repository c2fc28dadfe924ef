import type { FetchedResponse, ResponseHeaders } from '../fetch/contract.js'
import type { Change, CrawlRequest, FailureCode, Link, MaybePromise, SitemapHint } from '../types.js'
import type { QueryEncoding } from '../url/resolve.js'

/** A fetched page. Everything beyond the bytes is worked out on first touch. */
export interface Page<Data extends object = object> {
  /** A name of 16 characters that depends on the URL alone: the same in every run. */
  readonly id: string
  readonly url: string
  readonly host: string
  /** Links followed from a seed. */
  readonly depth: number
  /** The page on which the link to this one was found. */
  readonly parent: string | undefined
  /** The URLs that redirected here, first to last. */
  readonly redirectedFrom: readonly string[]
  /** How often the URL was tried before. A page that is delivered again after a crash has the same `id` and `attempt`. */
  readonly attempt: number
  /** What became of it since it was last visited; without `refresh()`, always `new`. A page that is `gone` has no body. */
  readonly change: Change
  /** 0 for a page that is gone because nobody answered. */
  readonly status: number
  readonly headers: ResponseHeaders
  /** Lower case, without parameters: `text/html`. */
  readonly mediaType: string
  /** The body as bytes, decompressed. */
  readonly body: Uint8Array
  /** The body as a string, decoded by the charset that the page declares. */
  readonly content: string
  /** The name of that charset, e.g. `utf-8`. */
  readonly charset: string
  /** True when `body` is only the beginning of what was sent: broken or cut off compression, or `maxBodyBytes` with `truncate`. */
  readonly truncated: boolean
  /** Bytes that came over the wire. */
  readonly wireBytes: number
  /** When the answer was complete, in ms since the epoch. */
  readonly fetchedAt: number
  /** From the start of the request to the end of the answer. */
  readonly fetchMs: number
  /** What `<title>` says, white space collapsed; empty where there is none. */
  readonly title: string
  /** Links found, resolved and canonical, each URL once, in document order. */
  readonly links: readonly PageLink[]
  /** What `<link rel=canonical>` names as the URL of this page, resolved and canonical. */
  readonly canonical: string | undefined
  /** What robots meta elements and X-Robots-Tag ask of this crawler. */
  readonly robots: { readonly noindex: boolean; readonly nofollow: boolean }
  /** The DOM (linkedom), built on first touch: about a hundred times the cost of the link scan. */
  readonly document: PageDocument
  /** The readable text, without scripts and styles. Built on first touch. */
  readonly text: string
  /** What extractors made of the page. */
  readonly data: Data
}

/**
 * The type of `page.document`: the platform's `Document` where a program is compiled with the DOM library, and what
 * most programs use of it where it is not, so that a program for Node.js needs no browser types.
 */
export type PageDocument = typeof globalThis extends { document: infer D extends object } ? D : BareDocument

/** What elements and documents have in common, without the DOM library. */
export interface BareParent {
  readonly children: ArrayLike<BareElement> & Iterable<BareElement>
  querySelector(selectors: string): BareElement | null
  querySelectorAll(selectors: string): ArrayLike<BareElement> & Iterable<BareElement>
  getElementsByTagName(name: string): ArrayLike<BareElement> & Iterable<BareElement>
  getElementsByClassName(names: string): ArrayLike<BareElement> & Iterable<BareElement>
}

/** A document, without the DOM library. */
export interface BareDocument extends BareParent {
  readonly title: string
  readonly documentElement: BareElement
  readonly head: BareElement
  readonly body: BareElement
  getElementById(id: string): BareElement | null
}

/** An element, without the DOM library. */
export interface BareElement extends BareParent {
  readonly tagName: string
  readonly id: string
  readonly className: string
  readonly textContent: string
  readonly innerHTML: string
  readonly outerHTML: string
  readonly parentElement: BareElement | null
  readonly previousElementSibling: BareElement | null
  readonly nextElementSibling: BareElement | null
  getAttribute(name: string): string | null
  getAttributeNames(): string[]
  hasAttribute(name: string): boolean
  matches(selectors: string): boolean
  closest(selectors: string): BareElement | null
}

export interface PageLink {
  readonly url: string
  readonly tag: string
  readonly rel: string | undefined
}

/**
 * A page → links and data. Extractors are plugins: each names the media types it wants, and a page goes to every
 * extractor that wants its type.
 *
 * What must stay true: an extractor does not change the page. If it throws, or does not return in time, that page
 * is reported as failed; what the other extractors found is kept and the crawl goes on.
 */
export interface Extractor<Data extends object = object> {
  /** For messages and statistics. */
  readonly name: string
  /** For example `['text/html', 'image/*']`. Absent: HTML and XHTML. What no extractor wants is not downloaded. */
  readonly mediaTypes?: readonly string[]
  /** Before the first page. */
  open?(): MaybePromise<void>
  extract(page: Page): MaybePromise<Extraction<Data> | undefined | void>
  /** After the last page; also if the crawl was aborted. Calling it twice does nothing. */
  close?(): MaybePromise<void>
}

export interface Extraction<Data extends object = object> {
  /** To be followed, if the scope agrees: as written, relative to the page's base. */
  readonly links?: Iterable<Link | string>
  /** Becomes part of `page.data`. */
  readonly data?: Data
}

/** All extractors of a crawl as the engine sees them: one step that never throws. */
export interface ExtractionStep {
  /** Whether a body of this media type is worth downloading. */
  wants(mediaType: string): boolean
  /** Makes the page of a response. Cheap: nothing is decoded yet. */
  pageOf(request: CrawlRequest, response: FetchedResponse, timing: FetchTiming): Page
  /** Tells a page what became of it. */
  setChange(page: Page, change: Change): void
  /** The entries of a sitemap, read in slices that take some milliseconds each. */
  sitemap(body: Uint8Array): AsyncIterable<readonly SitemapEntry[]>
  /** Runs every extractor that wants the page. Afterwards `page.data` and `page.links` are complete. */
  run(page: Page): MaybePromise<Extracted>
  open(): Promise<void>
  close(): Promise<void>
}

/** A line of a sitemap. */
export interface SitemapEntry extends SitemapHint {
  /** Another sitemap, or a page. */
  readonly kind: 'page' | 'sitemap'
  /** As written. */
  readonly url: string
}

export interface FetchTiming {
  readonly fetchedAt: number
  readonly fetchMs: number
}

export interface Extracted {
  /** As written; relative to `base`. */
  readonly links: WrittenLinks
  /** What links are relative to: the page's URL or its base element, which may be of any scheme. */
  readonly base: string
  /** How queries of links are written; undefined: in UTF-8. */
  readonly queries?: QueryEncoding | undefined
  /** What went wrong; the first, if several. */
  readonly problem: ExtractionProblem | undefined
}

/** Links as written, made into objects only when they are looked at. */
export interface WrittenLinks extends Iterable<Link> {
  readonly length: number
  /** Whether the page has more links than are kept. */
  readonly isCut?: boolean
  at(index: number): Link
  /**
   * Writes the fingerprint of a link's spelling; false if it has none that may be compared. Links of equal fingerprint
   * lead, on pages of one origin, to the same place if they begin with a slash or a scheme.
   */
  fingerprint(index: number, into: Uint32Array): boolean
}

export interface ExtractionProblem {
  readonly code: FailureCode
  readonly message: string
  readonly cause?: unknown
}
