import { KumoError, messageOf } from '../errors.js'
import type { FetchedResponse } from '../fetch/contract.js'
import { owned } from '../owned.js'
import type { Change, CrawlRequest, Link, PageRequest, RequestExtras } from '../types.js'
import { fingerprintText } from '../url/fingerprint.js'
import { knownAs, redirectedFrom } from '../url/known-as.js'
import { pageRequest } from '../url/page-request.js'
import type { FollowOptions, RequestInput, RequestSpec } from '../url/request-options.js'
import { type Base, baseFor, resolve, resolveBase, withQueriesIn } from '../url/resolve.js'
import { type DecodedText, decodeBytes } from './charset/charset.js'
import { type CharsetQueries, queryEncoding } from './charset/encoders.js'
import { CompleteLinks } from './complete-links.js'
import { linkTexts } from './content/link-texts.js'
import { findMain, type Main } from './content/main.js'
import { markdownOf } from './content/markdown/markdown.js'
import type { PageLanguage, PageMeta } from './content/meta/contract.js'
import { declaredLanguage, languageOf } from './content/meta/language.js'
import { bareMeta, metaOf } from './content/meta/meta.js'
import type { PageSection } from './content/sections/contract.js'
import { sectionsOf, wholeText } from './content/sections/sections.js'
import type { StructuredData } from './content/structured/contract.js'
import { NO_STRUCTURED_DATA, structuredData } from './content/structured/structured.js'
import type { ContentElement } from './content/tree.js'
import { buildTree } from './content/tree-builder.js'
import { readableTextWithout } from './content/tree-text.js'
import type { FetchTiming, Page, PageDocument, PageLink } from './contract.js'
import { documentOf } from './dom/dom.js'
import { rejectOversized } from './dom/limits.js'
import { FollowedRequests, pageSettled } from './followed.js'
import { FoundLinks, REFRESH } from './html/found-links.js'
import { canonicalHref } from './html/head-scanner.js'
import { refreshUrl } from './html/meta-refresh.js'
import { type RobotsDirectives, robotsDirectives } from './html/robots-directives.js'
import { hasToken, type Scan, scan, titleOf } from './html/scanner.js'
import { readableText } from './html/text.js'
import { declaredType, sniffedType } from './media-type.js'
import { xmlAsHtml } from './xml/as-html.js'
import { scanXml, type XmlScan } from './xml/scanner.js'

const NO_LINKS = new FoundLinks(undefined, new Uint8Array(0))
const NO_SCAN: Scan = { links: NO_LINKS, base: undefined, rawTitle: undefined, robots: undefined }
const XHTML = 'application/xhtml+xml'
const MARKUP = new Set(['text/html', XHTML, ''])
/** Keeps links in XML from having the fingerprints of links in HTML, where character references may differ. */
const SALT_OF_XML = 0x584d4c
/** The same for pages that are scanned as text: elsewhere the codes of links are bytes. */
const SALT_OF_DECODED = 0x554e49

/** Whether a media type is HTML or XHTML, or unknown and therefore treated as HTML. */
export function isMarkup(mediaType: string): boolean {
  return MARKUP.has(mediaType)
}

/** Texts of links to read per page. One takes up to 2 µs. */
const MOST_TEXTS = 5000

/** One link of a `Link` header: its target and its parameters, each with the semicolon before it. */
const LINK_VALUE = /<([^<>]*)>((?:\s*;\s*[^\s=;,<>"]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"]*))?)*)/g
const PARAMETER = /;\s*([^\s=;,<>"]+)(?:\s*=\s*(?:"([^"]*)"|([^\s;,"]*)))?/g

type Inspect = (value: unknown, options: object) => string

/** A response as a page. Each property is computed on first access and cached. */
export class FetchedPage implements Page {
  readonly #request: CrawlRequest
  readonly #response: FetchedResponse
  readonly #timing: FetchTiming
  readonly #product: string | undefined
  #headers: FetchedResponse['headers'] | undefined
  #content: DecodedText | undefined
  #scan: Scan | undefined
  /** Set for well-formed XHTML only. */
  #xmlScan: XmlScan | undefined
  #links: readonly PageLink[] | undefined
  #document: PageDocument | undefined
  #text: string | undefined
  #tree: ContentElement | undefined
  #sections: readonly PageSection[] | undefined
  #structured: StructuredData | undefined
  #meta: PageMeta | undefined
  #language: PageLanguage | undefined
  #main: Main | undefined
  #mainText: string | undefined
  #markdown: string | undefined
  #found: FoundLinks | undefined
  #asked: PageRequest | undefined
  #followed: FollowedRequests | undefined
  #isSettled = false
  data: object = {}
  change: Change = 'new'
  readonly mediaType: string

  /** @param product The lower-case name by which robots meta elements may address this crawler. */
  constructor(request: CrawlRequest, response: FetchedResponse, timing: FetchTiming, product?: string) {
    this.#request = request
    this.#response = response
    this.#timing = timing
    this.#product = product
    this.mediaType = sniffedType(declaredType(response.headers.get('content-type')), response.body)
  }

  get id(): string {
    return fingerprintText(knownAs(this.#request))
  }

  get url(): string {
    return this.#request.url
  }

  get request(): PageRequest {
    this.#asked ??= pageRequest(this.#request)
    return this.#asked
  }

  /** What the program asked for beyond a GET of the URL. */
  get extras(): RequestExtras | undefined {
    return this.#request.extras
  }

  follow(request: RequestInput, options?: FollowOptions): void {
    if (this.#isSettled) throw pageSettled(this.url, request)
    this.#followed ??= new FollowedRequests()
    this.#followed.add(request, options, this.#linkBase)
  }

  /** Whether `follow` has no effect any more, and therefore throws. */
  set isSettled(isSettled: boolean) {
    this.#isSettled = isSettled
  }

  /** Removes and returns what was followed; undefined if nothing was. */
  takeFollowed(): readonly RequestSpec[] | undefined {
    return this.#followed?.take()
  }

  /** Adds what was followed on another thread. Ignored if the page was settled meanwhile. */
  adoptFollowed(requests: readonly RequestSpec[]): void {
    if (this.#isSettled) return
    this.#followed ??= new FollowedRequests()
    this.#followed.adopt(requests)
  }

  get host(): string {
    return this.#request.host
  }

  get depth(): number {
    return this.#request.depth
  }

  get parent(): string | undefined {
    return this.#request.parent
  }

  get redirectedFrom(): readonly string[] {
    return redirectedFrom(this.#request)
  }

  get attempt(): number {
    return this.#request.attempt
  }

  get status(): number {
    return this.#response.status
  }

  get headers(): FetchedResponse['headers'] {
    const { headers } = this.#response
    this.#headers ??= headers.detached?.() ?? headers
    return this.#headers
  }

  get body(): Uint8Array {
    return this.#response.body
  }

  get wireBytes(): number {
    return this.#response.wireBytes
  }

  get fetchedAt(): number {
    return this.#timing.fetchedAt
  }

  get fetchMs(): number {
    return this.#timing.fetchMs
  }

  get content(): string {
    return this.#decoded.text
  }

  get charset(): string {
    return this.#decoded.charset
  }

  get truncated(): boolean {
    return this.#response.truncated === true
  }

  /** One pass that finds title, links, base and robots meta; empty unless the page is markup. */
  get scanned(): Scan {
    this.#scan ??= this.#scanContent()
    return this.#scan
  }

  get title(): string {
    return owned(titleOf(this.scanned) ?? '')
  }

  /** The base URL of links. */
  get base(): string {
    const { base } = this.scanned
    return base === undefined ? this.url : resolveBase(base, withQueriesIn(this.queries, baseFor(this.url)))
  }

  /** The encoding of queries in links. */
  get queries(): CharsetQueries | undefined {
    // Other media types are decoded only if their text is used.
    return isMarkup(this.mediaType) ? queryEncoding(this.charset) : undefined
  }

  get #linkBase(): Base {
    return withQueriesIn(this.queries, baseFor(this.base))
  }

  /** Links as written: from the scan, from the Refresh header and, once they have run, from extractors. */
  get found(): FoundLinks {
    this.#found ??= this.#written()
    return this.#found
  }

  set found(links: FoundLinks) {
    this.#found = links
    // An earlier extractor may have read `links` already.
    this.#links = undefined
  }

  get links(): readonly PageLink[] {
    this.#links ??= this.#resolvedLinks()
    return this.#links
  }

  /** From the markup or, failing that, from the `Link` header. */
  get canonical(): string | undefined {
    if (isMarkup(this.mediaType)) {
      const href = this.#canonicalHref()
      const url = href === undefined ? undefined : resolve(href, this.#linkBase)
      if (url !== undefined) return url
    }
    const header = this.#response.headers.get('link') ?? undefined
    const target = header === undefined ? undefined : canonicalTarget(header)
    return target === undefined ? undefined : resolve(target, baseFor(this.url))
  }

  get robots(): RobotsDirectives {
    const header = this.#response.headers.get('x-robots-tag') ?? undefined
    return robotsDirectives({ meta: this.scanned.robots, header, product: this.#product })
  }

  get document(): PageDocument {
    this.#document ??= this.#parse()
    return this.#document
  }

  get text(): string {
    this.#text ??= isMarkup(this.mediaType)
      ? readableText(this.content, this.mediaType === XHTML)
      : this.content
    return this.#text
  }

  get main(): string {
    this.#mainText ??= isMarkup(this.mediaType) ? this.#runningText() : this.content
    return this.#mainText
  }

  get markdown(): string {
    this.#markdown ??= isMarkup(this.mediaType)
      ? owned(markdownOf(this.mainTree('page.markdown'), this.base))
      : this.content
    return this.#markdown
  }

  #runningText(): string {
    const { root, besides } = this.#findMain('page.main')
    return owned(readableTextWithout(besides, root))
  }

  /** The tree of the main content, on which Markdown and sections are built. */
  mainTree(property: string): ContentElement {
    return this.#findMain(property).root
  }

  #findMain(property: string): Main {
    this.#main ??= findMain(this.tree(property))
    return this.#main
  }

  get sections(): readonly PageSection[] {
    this.#sections ??= isMarkup(this.mediaType) ? this.#readSections() : wholeText(this.title, this.content)
    return this.#sections
  }

  #readSections(): PageSection[] {
    const main = this.mainTree('page.sections')
    return sectionsOf(this.tree('page.sections'), main, this.title)
  }

  get meta(): PageMeta {
    this.#meta ??= isMarkup(this.mediaType)
      ? this.#readMeta()
      : bareMeta(this.canonical, this.#declaredLanguage())
    return this.#meta
  }

  #readMeta(): PageMeta {
    const base = this.#linkBase
    const { canonical } = this
    const place = {
      canonical,
      language: this.#declaredLanguage(),
      resolve: (href: string) => resolve(href, base),
    }
    return metaOf(this.tree('page.meta'), this.structured, place)
  }

  get language(): PageLanguage {
    this.#language ??= languageOf(this.#declaredLanguage(), this.text)
    return this.#language
  }

  #declaredLanguage(): string | undefined {
    const header = this.#response.headers.get('content-language') ?? undefined
    return declaredLanguage(isMarkup(this.mediaType) ? this.content : '', header)
  }

  get structured(): StructuredData {
    this.#structured ??= isMarkup(this.mediaType)
      ? structuredData(this.tree('page.structured'), { url: this.url, base: this.base })
      : NO_STRUCTURED_DATA
    return this.#structured
  }

  /** The light tree of the whole page, which must be markup. `property` is what the user reads, for messages. */
  tree(property: string): ContentElement {
    this.#tree ??= buildTree(
      this.mediaType === XHTML ? xmlAsHtml(this.content) : this.content,
      property,
      this.url,
    )
    return this.#tree
  }

  /** What `JSON.stringify()` and `console.log()` show: the fields that say which page it is, and none that costs time. */
  toJSON(): Partial<Page> {
    const { id, url, status, mediaType, depth, parent, request, change, fetchedAt, data } = this
    return { id, url, status, mediaType, depth, parent, request: { ...request }, change, fetchedAt, data }
  }

  [Symbol.for('nodejs.util.inspect.custom')](_: number, options: object, inspect: Inspect): string {
    return `Page ${inspect(this.toJSON(), options)}`
  }

  get #decoded(): DecodedText {
    this.#content ??= decodeBytes(this.body, this.#response.headers.get('content-type') ?? undefined)
    return this.#content
  }

  #scanContent(): Scan {
    if (!isMarkup(this.mediaType)) return NO_SCAN
    const decoded = this.#decoded
    const ofQueries = this.queries?.salt ?? 0
    if (this.mediaType !== XHTML) {
      if (!decoded.hasAsciiMarkup)
        return scan(decoded.text, undefined, this.#product, { salt: ofQueries ^ SALT_OF_DECODED })
      const encoded = decoded.ascii ? undefined : decoded
      return scan(decoded.latin1, this.body, this.#product, { salt: ofQueries, encoded })
    }
    const { text } = decoded
    const salt = ofQueries ^ SALT_OF_XML
    this.#xmlScan = scanXml(text, this.#product, salt)
    return this.#xmlScan?.scan ?? scan(text, undefined, this.#product, { salt, isXhtml: true })
  }

  #written(): FoundLinks {
    const { links } = this.scanned
    const refresh = this.#response.headers.get('refresh') ?? undefined
    const href = refresh === undefined ? undefined : refreshUrl(refresh)
    if (href === undefined) return links
    // A header is relative to the URL of the page: a base element does not apply.
    const url = resolve(href, withQueriesIn(this.queries, baseFor(this.url)))
    return links.with([{ href: url ?? href, tag: REFRESH, rel: undefined }])
  }

  #resolvedLinks(): PageLink[] {
    const links = this.found
    const base = this.#linkBase
    const texts = this.#xmlScan && this.#linkTexts()
    const byUrl = new Map<string, PageLink>()
    const complete = new CompleteLinks(links)
    let textsLeft = MOST_TEXTS
    for (let index = 0; index < links.length; index++) {
      if (complete.has(index)) continue
      const { href, tag, rel } = links.at(index)
      const url = resolve(href, base)
      const known = url === undefined ? undefined : byUrl.get(url)
      // Of several links to a URL the first counts; but where it has no text, as a picture may, the next one names it.
      if (url === undefined || (known !== undefined && known.text !== '')) {
        complete.addLast()
        continue
      }
      const text = --textsLeft < 0 ? '' : owned(texts?.get(href) ?? links.textAt(index))
      if (text !== '') complete.addLast()
      if (known === undefined)
        byUrl.set(url, { url, tag, rel: rel === undefined ? undefined : owned(rel), text })
      else if (text !== '') byUrl.set(url, { ...known, text })
    }
    return [...byUrl.values()]
  }

  /** Undefined if the page is too large for a tree: its links are complete all the same. */
  #linkTexts(): ReadonlyMap<string, string> | undefined {
    try {
      return linkTexts(this.tree('page.links'))
    } catch {
      return undefined
    }
  }

  #canonicalHref(): string | undefined {
    if (this.scanned && this.#xmlScan) return this.#xmlScan.canonical
    const { text, ascii } = this.#decoded
    return canonicalHref(text, ascii ? this.body : undefined, this.mediaType === XHTML)
  }

  #parse(): PageDocument {
    if (!isMarkup(this.mediaType)) {
      const message = `page.document: ${this.url} is ${this.mediaType}, which has no DOM; use page.body or page.content`
      throw new KumoError('KUMO_NO_DOCUMENT', message)
    }
    const html = this.mediaType === XHTML ? xmlAsHtml(this.content) : this.content
    rejectOversized(html, this.url)
    try {
      return documentOf(html)
    } catch (error) {
      const message = `page.document: the DOM of ${this.url} could not be built: ${messageOf(error)}`
      throw new KumoError('KUMO_NO_DOCUMENT', message, { cause: error })
    }
  }
}

function canonicalTarget(header: string): string | undefined {
  for (const [, target, parameters = ''] of header.matchAll(LINK_VALUE)) {
    for (const [, name = '', quoted, bare = ''] of parameters.matchAll(PARAMETER)) {
      if (name.toLowerCase() === 'rel' && hasToken(quoted ?? bare, 'canonical')) return target
    }
  }
  return undefined
}

/** The links that extractors added to a page. */
export function addedLinks(page: Page): readonly Link[] {
  return page instanceof FetchedPage ? page.found.added : NO_ADDED
}

/** Adds what extractors on another thread returned. */
export function completePage(page: Page, data: object, links: readonly Link[]): void {
  const fetched = page as FetchedPage
  fetched.data = { ...fetched.data, ...data }
  const { added } = fetched.found
  if (links.length > added.length) fetched.found = fetched.found.with(links.slice(added.length))
}

const NO_ADDED: readonly Link[] = Object.freeze([])
