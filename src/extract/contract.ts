import type { FetchedResponse, ResponseHeaders } from '../fetch/contract.js'
import type {
  Change,
  CrawlRequest,
  FailureCode,
  Link,
  MaybePromise,
  PageRequest,
  SitemapHint,
} from '../types.js'
import type { FollowOptions, RequestInput, RequestSpec } from '../url/request-options.js'
import type { QueryEncoding } from '../url/resolve.js'
import type { LinkReach } from '../url/written-link.js'
import type { PageLanguage, PageMeta } from './content/meta/contract.js'
import type { PageSection } from './content/sections/contract.js'
import type { StructuredData } from './content/structured/contract.js'

/**
 * A fetched page. Everything beyond the bytes is computed on first access, so a crawl pays only for what it uses.
 *
 * @example
 * crawler.on('page', (page) => console.log(page.status, page.url, page.title, page.links.length))
 */
export interface Page<Data extends object = object> {
  /**
   * 16 hexadecimal digits derived from the URL, and from method and body if the request was not a plain GET: the same in
   * every run and on every machine.
   */
  readonly id: string
  /** The canonical, absolute URL, after redirects: `https://example.com/a?b=1`. */
  readonly url: string
  /** Host name, with the port unless it is the scheme's default: `example.com`, `localhost:8080`. */
  readonly host: string
  /**
   * The request behind the page, with the `label` and `data` that your program gave it. A link that was found on a page
   * has neither.
   *
   * @example
   * crawler.seeds({ url: 'https://example.com/toys', label: 'list', data: { category: 3 } })
   * page.request // { method: 'GET', label: 'list', data: { category: 3 }, priority: 0 }
   */
  readonly request: PageRequest
  /** Number of links followed from a seed to this page; a seed has 0. Redirects do not count. */
  readonly depth: number
  /** URL of the page that linked here; undefined for a seed. */
  readonly parent: string | undefined
  /** URLs that redirected here, first to last; empty if none did. */
  readonly redirectedFrom: readonly string[]
  /**
   * Number of earlier attempts at this URL: 0 if the first one succeeded. If a crash causes a page to be delivered twice,
   * both have the same `id` and `attempt`.
   */
  readonly attempt: number
  /**
   * What happened to the page since the last visit: `new`, `changed`, `unchanged` or `gone`. Always `new` without
   * `refresh()`. A page that is `gone` has no body, and neither has an `unchanged` one with status 304.
   */
  readonly change: Change
  /**
   * HTTP status of the response.
   *
   * - 200 to 299 for every page of a crawl without `refresh()`; other statuses are failures or redirects.
   * - 304 if `change` is `unchanged` and the server confirmed it (only with `refresh({ unchanged: true })`).
   * - If `change` is `gone`, whatever the last visit returned: mostly 404 or 410, possibly another error or a redirect,
   *   a 2xx if the body now has a media type that no extractor wants, or 0 if there was no response at all.
   */
  readonly status: number
  /** Response headers: `page.headers.get('content-type')`. */
  readonly headers: ResponseHeaders
  /**
   * Media type in lower case, without parameters: `text/html`. It is sniffed if the Content-Type header is missing or
   * clearly wrong, and empty if it remains unknown.
   */
  readonly mediaType: string
  /** The body, decompressed. */
  readonly body: Uint8Array
  /** The body as a string, decoded with `charset`. */
  readonly content: string
  /** Name of the encoding in the Encoding Standard, in lower case: `utf-8`, `windows-1252`, `shift_jis`. */
  readonly charset: string
  /**
   * True if `body` is only the beginning of the response: its compression was corrupt or cut off, or it exceeded
   * `maxBodyBytes` with `truncate`.
   */
  readonly truncated: boolean
  /** Size of the body on the wire, before decompression. */
  readonly wireBytes: number
  /** Time at which the response was complete, in ms since the epoch. */
  readonly fetchedAt: number
  /** Duration from the start of the request to the end of the response, in ms. */
  readonly fetchMs: number
  /** Text of the first `<title>`, with white space collapsed; empty if there is none. */
  readonly title: string
  /** Links in document order, resolved and canonical, each URL once, including those that extractors added. */
  readonly links: readonly PageLink[]
  /**
   * Canonical URL that the page declares in `<link rel=canonical>` or, failing that, in its `Link` header; undefined if
   * it declares none.
   */
  readonly canonical: string | undefined
  /** What robots meta elements and X-Robots-Tag headers ask of this crawler. */
  readonly robots: {
    /** The page should not be indexed. */
    readonly noindex: boolean
    /** The page's links should not be followed. */
    readonly nofollow: boolean
  }
  /**
   * The DOM (linkedom). Building it costs about a hundred times as much as the link scan.
   *
   * @throws KumoError `KUMO_NO_DOCUMENT` if the page is not HTML or too large for a DOM.
   * @example page.document.querySelector('h1')?.textContent
   */
  readonly document: PageDocument
  /** Readable text: without tags, scripts and styles, one line per block; `<pre>` keeps its lines and spaces. */
  readonly text: string
  /**
   * Text of the main content: without navigation, headers, footers, banners, comments and, in an article, its title and
   * the captions of its images. One line per block; `<pre>` as it is written. The whole text if the page is not HTML.
   *
   * @throws KumoError `KUMO_NO_DOCUMENT` if the page has more than 250,000 elements and texts.
   * @example for await (const page of new Crawler().seeds('https://example.com/')) console.log(page.title, page.main)
   */
  readonly main: string
  /**
   * The main content as Markdown (GitHub Flavored), with its title and its images. Links and images have absolute URLs. The
   * whole text if the page is not HTML.
   *
   * @throws KumoError `KUMO_NO_DOCUMENT` if the page has more than 250,000 elements and texts.
   * @example await writeFile(`${page.id}.md`, page.markdown)
   */
  readonly markdown: string
  /**
   * The main content by headings, in order: what search and retrieval index. Text before the first heading is a section
   * of level 0. A page that is not HTML is one section. `chunks()` of `kumo/content` cuts them into smaller parts.
   *
   * @throws KumoError `KUMO_NO_DOCUMENT` if the page has more than 250,000 elements and texts.
   * @example
   * for (const { id, path, heading, text } of page.sections) {
   *   console.log(`${page.url}#${id ?? ''}`, [...path, heading].join(' › '), text.length)
   * }
   */
  readonly sections: readonly PageSection[]
  /**
   * What the page says about itself: description, author, times, image, feeds, other languages.
   *
   * @throws KumoError `KUMO_NO_DOCUMENT` if the page has more than 250,000 elements and texts.
   * @example console.log(page.meta.published, page.meta.author, page.meta.feeds.map(({ url }) => url))
   */
  readonly meta: PageMeta
  /**
   * The language of the page: declared, and detected in its text. The declared one counts unless the text clearly is in
   * another. Reads at most 24,000 characters of `text`.
   *
   * @example if (page.language.code === 'ja' && page.language.confidence > 0.5) console.log(page.url)
   */
  readonly language: PageLanguage
  /**
   * Structured data: JSON-LD, microdata and RDFa as items of one form, OpenGraph and Twitter cards. JSON that is slightly
   * broken is repaired; what cannot be read is named in `problems`. Empty if the page is not HTML.
   *
   * @throws KumoError `KUMO_NO_DOCUMENT` if the page has more than 250,000 elements and texts.
   * @example
   * const product = page.structured.items.find(({ types }) => types.includes('Product'))
   * console.log(product?.properties.name?.[0], page.structured.openGraph['og:image']?.[0])
   */
  readonly structured: StructuredData
  /** Data that extractors returned, merged. */
  readonly data: Data
  /**
   * Asks for another request: call it from an extractor, a hook, a route, a `page` listener or the body of a `for await`,
   * until that is done with the page. The request is stored together with the page. A relative URL resolves against the
   * page. Block-list, scope, depth and robots.txt apply as to a link, `nofollow` does not; what is already known is not
   * fetched again. It comes before the links of the page, so that a URL that is also one of them gets this label and data.
   *
   * @throws KumoError `KUMO_INVALID_OPTION` if the request is invalid, `KUMO_PAGE_SETTLED` if it comes too late.
   *
   * @example
   * for (const link of page.document.querySelectorAll('a.product')) {
   *   page.follow(link.getAttribute('href'), { label: 'detail', data: { from: page.url } })
   * }
   */
  follow(request: RequestInput, options?: FollowOptions): void
}

/**
 * The type of `page.document`: the platform's `Document` if your program is compiled with TypeScript's DOM library,
 * otherwise the most used part of it, so that a Node.js program needs no browser types.
 */
export type PageDocument = typeof globalThis extends { document: infer D extends object } ? D : BareDocument

/** What documents and elements have in common, for programs without the DOM library. */
export interface BareParent {
  readonly children: ArrayLike<BareElement> & Iterable<BareElement>
  querySelector(selectors: string): BareElement | null
  querySelectorAll(selectors: string): ArrayLike<BareElement> & Iterable<BareElement>
  getElementsByTagName(name: string): ArrayLike<BareElement> & Iterable<BareElement>
  getElementsByClassName(names: string): ArrayLike<BareElement> & Iterable<BareElement>
}

/** A document, for programs without the DOM library. */
export interface BareDocument extends BareParent {
  readonly title: string
  readonly documentElement: BareElement
  readonly head: BareElement
  readonly body: BareElement
  getElementById(id: string): BareElement | null
}

/** An element, for programs without the DOM library. */
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

/** A link of a page. */
export interface PageLink {
  /** Canonical, absolute URL. */
  readonly url: string
  /**
   * Where the link was found: `a`, `area`, `link`, `iframe`, `frame`, `meta-refresh`, or whatever an extractor passed
   * (`plugin` if it returned a plain string).
   */
  readonly tag: string
  /** The `rel` attribute as written; undefined if there is none. */
  readonly rel: string | undefined
  /**
   * What a reader clicks on: the text of the link or, failing that, the alternative text of its image, its label or its
   * title; empty if it has none of these. If several links lead to the URL, the first that has a text. Read for up to
   * 5,000 links of a page.
   */
  readonly text: string
}

/**
 * Turns a page into links and data. Each extractor names the media types that it handles and receives every page of
 * these types.
 *
 * An extractor must not modify the page. If it throws or exceeds its time limit, the page is reported as a failure; what
 * other extractors returned is kept and the crawl continues.
 *
 * @example
 * const headings: Extractor<{ headings: string[] }> = {
 *   name: 'headings',
 *   extract: ({ document }) => ({
 *     data: { headings: Array.from(document.querySelectorAll('h2'), (each) => each.textContent ?? '') },
 *   }),
 * }
 */
export interface Extractor<Data extends object = object> {
  /** Name in error messages and statistics. */
  readonly name: string
  /**
   * Media types that it handles, such as `['application/pdf', 'image/*']`. Default: HTML and XHTML. Bodies of types that
   * no extractor handles are not downloaded.
   */
  readonly mediaTypes?: readonly string[] | undefined
  /** Called once before the first page. */
  open?: (() => MaybePromise<void>) | undefined
  /** Called for each page. Return nothing if the page has nothing of interest. */
  extract(page: Page): MaybePromise<Extraction<Data> | undefined | void>
  /** Called once after the last page, even if the crawl was aborted. Calling it again must do nothing. */
  close?: (() => MaybePromise<void>) | undefined
}

/** What an extractor returns. */
export interface Extraction<Data extends object = object> {
  /** Links to follow if they are in scope: `'/a?page=2'` or `{ href, tag }`, relative to the page's base URL. */
  readonly links?: Iterable<Link | string> | undefined
  /** Merged into `page.data`. */
  readonly data?: Data | undefined
}

/** All extractors of a crawl, as the engine uses them: one step that never throws. */
export interface ExtractionStep {
  /** Whether to download a body of this media type. */
  wants(mediaType: string): boolean
  /** Creates the page for a response. Cheap: nothing is decoded yet. */
  pageOf(request: CrawlRequest, response: FetchedResponse, timing: FetchTiming): Page
  /** Sets `page.change`. */
  setChange(page: Page, change: Change): void
  /** Removes and returns what `page.follow()` has asked for so far. It can still be called. */
  takeFollowed(page: Page): readonly RequestSpec[]
  /** Ends `page.follow()`: from now on it throws. Returns what was asked for. */
  settle(page: Page): readonly RequestSpec[] | undefined
  /** Entries of a sitemap, in slices that take a few milliseconds each. */
  sitemap(body: Uint8Array): AsyncIterable<readonly SitemapEntry[]>
  /** Runs every extractor that handles the page. Afterwards `page.data` and `page.links` are complete. */
  run(page: Page): MaybePromise<Extracted>
  open(): Promise<void>
  close(): Promise<void>
}

/** An entry of a sitemap, a sitemap index, or a feed read as one. */
export interface SitemapEntry extends SitemapHint {
  /** `page`, or `sitemap` for an entry of a sitemap index. */
  readonly kind: 'page' | 'sitemap'
  /** The URL as written. */
  readonly url: string
}

/** When a response was fetched. */
export interface FetchTiming {
  /** Time at which the response was complete, in ms since the epoch. */
  readonly fetchedAt: number
  /** Duration from the start of the request to the end of the response, in ms. */
  readonly fetchMs: number
}

/** What the engine needs from a page. */
export interface Extracted {
  /** As written, relative to `base`. */
  readonly links: WrittenLinks
  /** The base URL of the links: that of the page or of its base element, which may have any scheme. */
  readonly base: string
  /** Encoding of the queries of links; undefined for UTF-8. */
  readonly queries?: QueryEncoding | undefined
  /** The first problem, if any. */
  readonly problem: ExtractionProblem | undefined
}

/** Links as written. Objects are created only for those that are accessed. */
export interface WrittenLinks extends Iterable<Link> {
  /** Number of links. */
  readonly length: number
  /** True if the page has more links than are kept. */
  readonly isCut?: boolean
  /** The link at this index. */
  at(index: number): Link
  /**
   * Writes the fingerprint of a link as written, and tells where links with an equal fingerprint lead to the same URL: on
   * pages of one origin, directory or document, or nowhere.
   */
  fingerprint(index: number, into: Uint32Array): LinkReach
}

/** Why extraction failed. */
export interface ExtractionProblem {
  /** `extract-failed`, `extract-timeout` or `invalid-data`. */
  readonly code: FailureCode
  /** What happened, for people. */
  readonly message: string
  /** What the extractor threw. */
  readonly cause?: unknown
}
