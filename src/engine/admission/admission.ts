import { KumoError } from '../../errors.js'
import type { Extracted, SitemapEntry } from '../../extract/contract.js'
import type { CrawlRequest, Link, MaybePromise, Purpose, RequestExtras } from '../../types.js'
import { hostOf, originOf } from '../../url/canonicalize.js'
import { knownAs, redirectName, sitemapName } from '../../url/known-as.js'
import type { Asked } from '../../url/page-request.js'
import type { RequestSpec } from '../../url/request-options.js'
import { baseFor, resolve, withQueriesIn } from '../../url/resolve.js'
import { ABSOLUTE, NOT_COMPARABLE } from '../../url/written-link.js'
import type { EngineParts, EngineRules } from '../parts.js'
import { forOtherOrigin } from '../visit/redirect.js'
import { AdmissionFilter, type AdmissionReport, isNofollow, leadsToPage } from './admission-filter.js'
import { Arrivals } from './arrivals.js'
import { Batch, RequestBatch } from './batch.js'
import { FeedAdmission } from './feed-admission.js'
import { AdmissionsInProgress } from './in-progress.js'
import { MINE, OriginCache } from './origin-cache.js'
import { FAR, PageScope } from './page-scope.js'
import { type PriorityOf, priorityOf } from './priority-rules.js'
import { RecentLinks } from './recent-links.js'
import { newRequest, requestOf, withHint, withOutside } from './requests.js'
import { SitemapQuota } from './sitemap-quota.js'

const SLASH = 0x2f
/** In characters, as written; servers reject URLs of this length. */
const MAX_HREF_LENGTH = 8192
const HREF_SHOWN_LENGTH = 200
/** robots.txt comes before pages: pages wait for it. */
const ROBOTS_PRIORITY = Number.MAX_SAFE_INTEGER
/** Pages that only a sitemap lists come after pages that others link to. */
const SITEMAP_PRIORITY = -1

/** Where a sitemap may be if robots.txt lists none. */
export const WELL_KNOWN_SITEMAP = '/sitemap.xml'

export type AdmissionRules = Pick<
  EngineRules,
  'maxDepth' | 'maxLinksPerPage' | 'nofollow' | 'followCanonical' | 'sitemapEntriesPerHost' | 'followsLoops'
>

/** Creates the request for a URL. */
type MakeRequest = (url: string, host: string) => CrawlRequest

/**
 * Turns links as written into new requests: recent? → canonical URL → blocked? → scope → owned here? → seen? → trap?
 * Links to hosts of other shards leave through the exchange, and their owner checks them against the seen-set.
 *
 * This is the hot path (sixty links per page): what holds for an origin is computed once, and a link that is already
 * known allocates no object.
 */
export class Admission {
  readonly #parts: EngineParts
  readonly #rules: AdmissionRules
  readonly #report: AdmissionReport
  readonly #origins: OriginCache
  readonly #recentLinks = new RecentLinks()
  /** Links that are out of scope, whatever page they are on: the same few external ones are on every page of a site. */
  readonly #recentOutside = new RecentLinks()
  /** The version of the ownership table when the recent links were collected. */
  #ownershipVersion = 0
  readonly #sitemapQuota: SitemapQuota
  readonly #filter: AdmissionFilter
  /** Decides about fetched pages. Undefined: the scope decides by URLs alone. */
  readonly pageScope: PageScope | undefined
  /** What `prioritize()` says about a link. Undefined: it was not called. */
  readonly #priorityOf: PriorityOf | undefined
  /** Contains a visited request until its visit is settled. */
  readonly inProgress = new AdmissionsInProgress()
  /** Requests from other shards. */
  readonly arrivals: Arrivals
  /** What `feeds()` adds. Undefined: it was not called. */
  readonly feeds: FeedAdmission | undefined

  constructor(parts: EngineParts, rules: AdmissionRules, report: AdmissionReport) {
    this.#parts = parts
    this.#rules = rules
    this.#report = report
    this.#origins = new OriginCache(parts)
    this.#filter = new AdmissionFilter(parts, rules, report)
    this.#priorityOf = priorityOf(parts)
    this.pageScope = parts.scope.testPage && new PageScope(parts.scope, parts.languageOf)
    this.arrivals = new Arrivals(parts, this.#origins, this.#filter, this.inProgress)
    this.#sitemapQuota = new SitemapQuota(rules.sitemapEntriesPerHost)
    this.feeds =
      parts.feeds &&
      new FeedAdmission(parts, this.#origins, this.#filter, this.inProgress, (batch) => this.#newIn(batch))
  }

  /** Admits seeds, whatever the scope. `all` are the URLs of the seeds that define the scope, by default these. */
  async admitSeeds(seeds: readonly RequestSpec[], all?: readonly string[]): Promise<void> {
    const { scope, onSeed, priorities } = this.#parts
    if (priorities !== undefined)
      for (const url of all ?? seeds.map((seed) => seed.url)) priorities.addSeed(this.#spelled(url))
    if (scope.addSeed !== undefined) {
      for (const url of all ?? seeds.map((seed) => seed.url)) scope.addSeed(this.#spelled(url))
      this.#origins.clear()
      this.#recentOutside.clear()
    }
    for (const url of all ?? []) onSeed?.(url, false)
    const batch = new RequestBatch()
    for (const seed of seeds) {
      onSeed?.(seed.url, true)
      const url = this.#filter.rewritten(seed.url, seed.depth, undefined, seed)
      if (url === undefined) continue
      const facts = this.#origins.of(originOf(url))
      if (this.#filter.isBlocked(url, facts, seed.depth, undefined, seed)) continue
      const made = requestOf(seed, url, facts.host, seed.depth, undefined)
      batch.put(this.feeds === undefined ? made : this.feeds.asSeed(made), facts)
    }
    this.inProgress.enter(batch)
    const added = this.#add(await this.#newIn(batch))
    if (added instanceof Promise) await added
    this.inProgress.leave(batch)
  }

  /**
   * Sends the links of a page to their owners, reports skipped ones and drops known ones. The page's settlement adds the
   * returned requests to the frontier, so that a store commits a page together with what it found.
   */
  admitLinks(extracted: Extracted, from: CrawlRequest): MaybePromise<readonly CrawlRequest[] | undefined> {
    const base = withQueriesIn(extracted.queries, baseFor(extracted.base))
    // A base that is not http(s) has no origin.
    const home = base.origin || originOf(from.url)
    const here = this.#origins.of(home)
    let origin = home
    let facts = here
    const depth = from.depth + 1
    const batch = new Batch()
    let priorities: Map<string, number> | undefined
    const rules = this.#priorityOf
    const recent = this.#currentRecentLinks()
    recent.setBase(base)
    const outside = this.#recentOutside
    const { links } = extracted
    const { maxLinksPerPage } = this.#rules
    if (links.length > maxLinksPerPage || links.isCut)
      this.#report.skipped(from.url, 'too-many-links', from.parent, from)
    const count = Math.min(links.length, maxLinksPerPage)
    for (let i = 0; i < count; i++) {
      const reach = links.fingerprint(i, recent.link)
      const comparable = reach !== NOT_COMPARABLE
      if (comparable && recent.has(reach)) continue
      const isAbsolute = reach === ABSOLUTE
      if (isAbsolute && outside.hasSame(recent) && this.#report.skippedAgain('scope')) continue
      const link = links.at(i)
      // Links that an extractor adds are always followed.
      if (comparable && !leadsToPage(link, this.#rules.followCanonical)) {
        recent.add(reach)
        continue
      }
      // Resolving takes up to a microsecond per character, if many need escapes.
      if (link.href.length > MAX_HREF_LENGTH) {
        this.#report.skipped(`${link.href.slice(0, HREF_SHOWN_LENGTH)}…`, 'url-too-long', from.url, link)
        continue
      }
      const resolved = resolve(link.href, base)
      if (resolved === undefined) {
        this.#report.skipped(link.href, 'not-http', from.url, link)
        continue
      }
      if (this.#isNofollow(link)) {
        this.#report.skipped(resolved, 'nofollow', from.url, link)
        continue
      }
      const url = this.#filter.rewritten(resolved, depth, from.url, link)
      if (url === undefined) {
        // Reported once, and not on every page of the site.
        recent.add(reach)
        continue
      }
      // Consecutive links often have the same origin.
      if (!isUnder(url, origin)) {
        origin = isUnder(url, home) ? home : originOf(url)
        facts = origin === home ? here : this.#origins.of(origin)
      }
      if (!this.#filter.admits(url, facts, depth, from, link)) {
        if (isAbsolute && facts.inScope === false && facts.blocked === false) outside.addSame(recent)
        continue
      }
      batch.put(url, facts)
      recent.add(reach)
      const priority = link.priority ?? rules?.(url, depth, from.url)
      if (priority !== undefined) {
        priorities ??= new Map()
        priorities.set(url, priority)
      }
    }
    if (batch.isEmpty && !this.#filter.hasFailures) return
    this.inProgress.enter(from)
    const distance = this.pageScope?.distanceOf(from) ?? 0
    return this.#newRequests(batch, (url, host) =>
      withOutside(newRequest(url, host, depth, priorities?.get(url) ?? 0, from.url), distance),
    )
  }

  /**
   * Admits what a program asked for with `page.follow()`, like links. The page's settlement adds the returned requests to
   * the frontier.
   */
  admitFollowed(followed: readonly RequestSpec[], from: CrawlRequest): Promise<readonly CrawlRequest[]> {
    const depth = from.depth + 1
    const outside = this.pageScope?.distanceOf(from) ?? 0
    const batch = new RequestBatch()
    for (const spec of followed) {
      const url = this.#filter.rewritten(spec.url, depth, from.url, spec)
      if (url === undefined) continue
      const facts = this.#origins.of(originOf(url))
      if (!this.#filter.admits(url, facts, depth, from, spec)) continue
      const priority = spec.priority || (this.#priorityOf?.(url, depth, from.url) ?? 0)
      const made = requestOf({ ...spec, priority }, url, facts.host, depth, from.url)
      batch.put(withOutside(made, outside), facts)
    }
    this.inProgress.enter(from)
    return this.#newIn(batch)
  }

  /**
   * The request for a redirect's target, which the settlement of its source adds to the frontier. It has the depth of its
   * source, and waits for its own host. `left` is what is left of the source's extras. Undefined if the canonical target
   * has already redirected here.
   */
  async admitRedirect(
    target: string,
    from: CrawlRequest,
    left?: RequestExtras,
    purpose = from.purpose,
  ): Promise<readonly CrawlRequest[] | undefined> {
    const to = this.#redirectTarget(target, from, left)
    if (to === undefined) {
      await this.#filter.reportFailures()
      return []
    }
    // A rule may have rewritten the target to another origin than the one that `left` was made for.
    const extras = originOf(to) === originOf(from.url) ? left : forOtherOrigin(left)
    const facts = this.#origins.of(originOf(to))
    const via = [...(from.via ?? []), redirectName(from)]
    const { priority, depth, parent, hint } = from
    const make = (url: string, host: string): CrawlRequest => {
      const next = { ...newRequest(url, host, depth, priority, parent), redirects: from.redirects + 1, via }
      return { ...next, ...(purpose && { purpose }), ...(hint && { hint }), ...(extras && { extras }) }
    }
    const batch = new Batch()
    this.inProgress.enter(from)
    if (purpose !== undefined) {
      // The scope applies to pages only, the block-list to everything.
      if (!this.#filter.isBlocked(to, facts, depth, from.url, from)) batch.put(to, facts)
      return this.#allRequests(batch, make)
    }
    const nameOf = extras && ((url: string) => knownAs({ url, extras }))
    const isLoop = via.includes(nameOf?.(to) ?? to)
    if (isLoop && !this.#rules.followsLoops) return undefined
    if (this.#filter.admits(to, facts, depth, from, from)) batch.put(to, facts)
    // With cookies a page may redirect to itself and answer differently the second time.
    return isLoop ? this.#allRequests(batch, make) : this.#newRequests(batch, make, nameOf)
  }

  /** Queues a robots.txt that pages wait for. False if the URL is blocked. */
  async queueRobots(url: string, from: CrawlRequest, purpose: Purpose): Promise<boolean> {
    const facts = this.#origins.of(originOf(url))
    if (this.#filter.isBlocked(url, facts, from.depth, from.url, NOTHING_ASKED)) {
      await this.#filter.reportFailures()
      return false
    }
    const batch = new Batch()
    batch.put(url, facts)
    this.inProgress.enter(batch)
    const made = await this.#allRequests(batch, (each, host) => ({
      ...newRequest(each, host, from.depth, ROBOTS_PRIORITY, from.url),
      purpose,
    }))
    await this.#add(made)
    this.inProgress.leave(batch)
    return true
  }

  /**
   * Queues the sitemaps that `source` lists, given as written. `nested` is the number of indexes above them; `of` is the
   * host whose sitemaps they are, by default that of the source.
   */
  async queueSitemaps(hrefs: readonly string[], source: string, nested = 0, of?: string): Promise<void> {
    const base = baseFor(source)
    const batch = new Batch()
    const forHost = of ?? this.#origins.of(base.origin).host
    const guess = resolve(WELL_KNOWN_SITEMAP, base)
    for (const href of hrefs) {
      const url = resolve(href, base)
      if (url === undefined || !this.#sitemapQuota.claimSitemap(forHost, nested)) continue
      const facts = this.#origins.of(originOf(url))
      if (!this.#filter.isBlocked(url, facts, 0, source, NOTHING_ASKED)) batch.put(url, facts)
    }
    const make = (url: string, host: string): CrawlRequest => ({
      ...newRequest(url, host, 0, SITEMAP_PRIORITY, source),
      purpose: {
        kind: 'sitemap',
        nested,
        of: forHost,
        ...(url === guess && nested === 0 && { guessed: true }),
      },
    })
    await this.#admit(batch, make, sitemapName)
  }

  /** Whether more entries of the host's sitemaps are admitted. */
  wantsSitemap(purpose: Purpose & { kind: 'sitemap' }): boolean {
    return this.#sitemapQuota.hasRoom(purpose.of)
  }

  /** Admits the pages that a sitemap lists, at depth 1, and queues the sitemaps that it lists. */
  async admitSitemapEntries(
    entries: readonly SitemapEntry[],
    from: CrawlRequest,
    purpose: Purpose & { kind: 'sitemap' },
  ): Promise<void> {
    const base = baseFor(from.url)
    const batch = new Batch()
    const hints = new Map<string, SitemapEntry>()
    const sitemaps: string[] = []
    for (const entry of entries) {
      if (entry.kind === 'sitemap') {
        sitemaps.push(entry.url)
        continue
      }
      const resolved = resolve(entry.url, base)
      if (resolved === undefined) continue
      const url = this.#filter.rewritten(resolved, 1, from.url, NOTHING_ASKED)
      if (url === undefined) continue
      const facts = this.#origins.of(originOf(url))
      if (!this.#filter.admits(url, facts, 1, from, NOTHING_ASKED)) continue
      if (!this.#sitemapQuota.claimEntry(purpose.of)) continue
      batch.put(url, facts)
      hints.set(url, entry)
    }
    await this.#admit(batch, (url, host) =>
      withHint(
        withOutside(
          newRequest(url, host, 1, this.#priorityOf?.(url, 1, from.url) ?? SITEMAP_PRIORITY, from.url),
          this.pageScope === undefined ? 0 : FAR,
        ),
        hints.get(url)!,
      ),
    )
    if (sitemaps.length > 0) await this.queueSitemaps(sitemaps, from.url, purpose.nested + 1, purpose.of)
  }

  /** Whether this shard owns the host of `origin`. */
  isMine(origin: string): boolean {
    return this.#origins.of(origin).owner === MINE
  }

  /** Sends a request to the shard that owns the host of `origin`. */
  sendToOwner(origin: string, request: CrawlRequest): void {
    this.#parts.exchange.send(this.#origins.ownerOf(origin), [request])
  }

  /** Checked again before a visit, because a resumed crawl may have another block-list. */
  isBlocked(request: CrawlRequest): boolean {
    const { url, depth, parent } = request
    return (
      this.#parts.blocked !== undefined &&
      this.#filter.isBlocked(url, this.#origins.of(originOf(url)), depth, parent, request)
    )
  }

  /** Cleared when ownership changes: the former owner of a link's host may have died and lost the link. */
  #currentRecentLinks(): RecentLinks {
    const { version } = this.#parts.ownership
    if (version !== this.#ownershipVersion) this.#recentLinks.clear()
    this.#ownershipVersion = version
    return this.#recentLinks
  }

  /** The rewritten URL, or the URL itself if that fails. */
  #spelled(url: string): string {
    try {
      return this.#parts.rewrite?.(url) ?? url
    } catch {
      return url
    }
  }

  /**
   * The rewritten target. If that is the request that the redirect came from, the target as the server wrote it: a site
   * may redirect `/` to the `/index.html` that a rule rewrites to `/`. The GET after a POST is another request.
   */
  #redirectTarget(target: string, from: CrawlRequest, extras: RequestExtras | undefined): string | undefined {
    const to = this.#filter.rewritten(target, from.depth, from.parent, from)
    const { rewrite, withoutParameters } = this.#parts
    if (rewrite === undefined || to === undefined) return to
    const name = redirectName({ url: to, purpose: from.purpose, extras })
    if (name !== redirectName(from) && !from.via?.includes(name)) return to
    return withoutParameters === undefined ? target : withoutParameters(target)
  }

  /** Reports the URLs for which a scope rule threw since the last call. */
  reportFailures(): Promise<void> {
    return this.#filter.reportFailures()
  }

  #isNofollow(link: Link): boolean {
    return this.#rules.nofollow && link.rel !== undefined && isNofollow(link.rel)
  }

  /** Adds new URLs to the frontier. */
  async #admit(batch: Batch, make: MakeRequest, nameOf?: (url: string) => string): Promise<void> {
    this.inProgress.enter(batch)
    const added = this.#add(await this.#newRequests(batch, make, nameOf))
    if (added instanceof Promise) await added
    this.inProgress.leave(batch)
  }

  /** Requests for the new URLs of this shard. `nameOf`: the name under which the seen-set knows a URL. */
  async #newRequests(
    batch: Batch,
    make: MakeRequest,
    nameOf?: (url: string) => string,
  ): Promise<readonly CrawlRequest[]> {
    const requests: CrawlRequest[] = []
    if (batch.mine.length > 0) {
      const answer = this.#parts.seen.addAll(nameOf === undefined ? batch.mine : batch.mine.map(nameOf))
      const fresh = answer instanceof Promise ? await answer : answer
      if (fresh?.length !== batch.mine.length) throw invalidSeenAnswer(batch.mine.length)
      for (let i = 0; i < fresh.length; i++) {
        if (!fresh[i]) continue
        const made = make(batch.mine[i]!, batch.hosts[i]!)
        // A seed, which has no parent, is never a trap.
        if (made.parent === undefined || !this.#filter.isTrap(made)) requests.push(made)
      }
    }
    this.#send(batch, make)
    if (this.#filter.hasFailures) await this.#filter.reportFailures()
    return requests
  }

  /** The new requests of this shard. Those of others are sent to them. */
  async #newIn({ mine, others }: RequestBatch): Promise<readonly CrawlRequest[]> {
    const fresh = await this.#parts.seen.addAll(mine.map(knownAs))
    if (fresh?.length !== mine.length) throw invalidSeenAnswer(mine.length)
    const requests = mine.filter((each, i) => {
      // A seed, which has no parent, is never a trap.
      return fresh[i] && (each.parent === undefined || !this.#filter.isTrap(each))
    })
    for (const [owner, sent] of others) this.#parts.exchange.send(owner, sent)
    if (this.#filter.hasFailures) await this.#filter.reportFailures()
    return requests
  }

  /** Requests for all URLs of this shard, known or not. */
  async #allRequests(batch: Batch, make: MakeRequest): Promise<readonly CrawlRequest[]> {
    this.#send(batch, make)
    await this.#filter.reportFailures()
    return batch.mine.map((url, i) => make(url, batch.hosts[i]!))
  }

  #add(requests: readonly CrawlRequest[]): MaybePromise<void> {
    return requests.length > 0 ? this.#parts.frontier.add(requests) : undefined
  }

  #send(batch: Batch, make: MakeRequest): void {
    if (batch.others === undefined) return
    for (const [owner, urls] of batch.others) {
      this.#parts.exchange.send(
        owner,
        urls.map((url) => make(url, hostOf(url))),
      )
    }
  }
}

function isUnder(url: string, origin: string): boolean {
  return url.startsWith(origin) && url.charCodeAt(origin.length) === SLASH
}

const NOTHING_ASKED: Asked = Object.freeze({})

function invalidSeenAnswer(urls: number): KumoError {
  const message = `seen.addAll must return one boolean for each of ${urls} URLs`
  return new KumoError('KUMO_CONTRACT_BROKEN', message)
}
