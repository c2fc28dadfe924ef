import { messageOf, pluralize } from '../../errors.js'
import type { FetchTiming, Page } from '../../extract/contract.js'
import type { FetchedResponse, Outcome } from '../../fetch/contract.js'
import type { RobotsVerdict } from '../../fetch/robots/contract.js'
import type { Settlement } from '../../frontier/contract.js'
import { type Clock, retryAfterMs } from '../../time.js'
import type { CrawlRequest, MaybePromise, Purpose, RobotsArrived } from '../../types.js'
import { isSafe } from '../../url/methods.js'
import type { Admission } from '../admission/admission.js'
import { FeedVisits } from '../feeds/feed-visits.js'
import type { FollowedFeeds } from '../feeds/followed-feeds.js'
import { UNDELIVERED } from '../hooks/delivered.js'
import type { EngineParts, EngineRules } from '../parts.js'
import type { KnownPages, RevisitLookup } from '../refresh/known-pages.js'
import { NOT_MODIFIED, RevisitProcessor } from '../refresh/revisit-processor.js'
import type { Meters } from '../stats/meters.js'
import type { Reporter } from '../stats/reporter.js'
import type { Tally } from '../stats/tally.js'
import { type FetchSettings, FetchStep } from './fetch-step.js'
import { backOff, isDown, nextProbeAt, retryWaitMs } from './host-health.js'
import type { HostQuota } from './host-quota.js'
import { NO_PAGE, PageProcessor, type ReleaseVisit } from './page-processor.js'
import { RobotsFetches } from './robots-fetches.js'
import { SessionStep } from './session-step.js'
import { type FailureVerdict, isLocalShortage, judge, type Verdict } from './verdict.js'
import { notVisited, postponed, repeated, unvisited, type VisitResult } from './visit-result.js'

/** Sitemaps may have 50 MB (sitemaps.org), whatever the limit for pages. */
const SITEMAP_FETCH: FetchSettings = {
  wants: () => true,
  maxBodyBytes: 50 * 1024 * 1024,
  cutsBody: true,
  purpose: 'sitemap',
}

/** Each may need 50 MB of memory. */
const MAX_SITEMAPS_IN_FLIGHT = 4
const SITEMAP_RETRY_MS = 500
const FEED_RETRY_MS = 3_600_000

/**
 * Visits one request: robots gate → fetch → extract → hooks → admit. The result is a settlement that says what happens to
 * the request next. Whatever the network or user code does, a visit ends in a settlement; it rejects only if a store
 * fails.
 */
export class Visits {
  readonly #parts: EngineParts
  readonly #rules: EngineRules
  readonly #admission: Admission
  readonly #tally: Tally
  readonly #reports: Reporter
  readonly #quotas: { readonly host: HostQuota; readonly site: HostQuota }
  readonly #fetchStep: FetchStep
  readonly #robotsFetches: RobotsFetches
  readonly #processor: PageProcessor
  readonly #sessionStep: SessionStep | undefined
  readonly #pageFetch: FetchSettings
  readonly #knownPages: KnownPages | undefined
  readonly #revisitProcessor: RevisitProcessor | undefined
  readonly #feedVisits: FeedVisits | undefined
  readonly #openedAt: number
  #sitemapsInFlight = 0

  constructor(
    parts: EngineParts,
    rules: EngineRules,
    admission: Admission,
    { meters, tally, reports }: { meters: Meters; tally: Tally; reports: Reporter },
    quotas: { readonly host: HostQuota; readonly site: HostQuota },
    release: (settlement: Settlement) => boolean,
    knownPages?: KnownPages,
    followed?: FollowedFeeds,
  ) {
    this.#parts = parts
    this.#openedAt = parts.clock.now()
    this.#knownPages = knownPages
    this.#rules = rules
    this.#admission = admission
    this.#tally = tally
    this.#reports = reports
    this.#quotas = quotas
    this.#fetchStep = new FetchStep(parts, rules.fetchTimeoutMs, meters, tally)
    this.#robotsFetches = new RobotsFetches(parts, rules, admission, this.#fetchStep, tally)
    const releaseVisit: ReleaseVisit = (request, { fetchedAt, fetchMs }, found) => {
      const reached = this.#settleReached(request, fetchedAt - fetchMs, fetchedAt, {
        delivered: false,
        found,
      })
      return release({ ...reached, held: true })
    }
    this.#processor = new PageProcessor(parts, rules, admission, meters, tally, reports, releaseVisit)
    const { sessions } = parts
    this.#sessionStep =
      sessions &&
      new SessionStep(parts, rules, sessions, this.#fetchStep, reports, {
        hostDelayMs: (request, fetchMs) => this.#hostDelayMs(request, fetchMs),
        giveUp: (request, settled) => this.#giveUp(request, settled),
      })
    this.#pageFetch = {
      wants: (mediaType) => parts.extraction.wants(mediaType),
      cutsBody: rules.truncateBodies,
    }
    this.#feedVisits =
      followed &&
      new FeedVisits(followed, parts, rules, admission, this.#fetchStep, reports, {
        checkRobots: (request) => this.#checkRobots(request),
        judge: (request, outcome) => this.#judge(request, outcome),
        settleReached: (request, startedAt, endedAt) => this.#settleReached(request, startedAt, endedAt),
        settleFailure: (request, outcome, verdict, startedAt, endedAt) =>
          this.#settleFailure(request, outcome, verdict, startedAt, endedAt),
      })
    this.#revisitProcessor =
      knownPages &&
      new RevisitProcessor(
        parts,
        knownPages,
        this.#processor,
        tally,
        (request, startedAt, endedAt, processed) =>
          this.#settleReached(request, startedAt, endedAt, processed),
      )
  }

  /** Aborts all fetches; their requests stay pending. */
  abort(): void {
    this.#fetchStep.abort()
    this.#sessionStep?.abort()
    this.#parts.delivery.abort()
  }

  /** Aborts the fetches of some hosts; their requests stay pending, here or with another process. */
  abortHosts(isGone: (host: string) => boolean): void {
    this.#fetchStep.abortHosts(isGone)
  }

  /** Clears all timers. */
  close(): void {
    this.#fetchStep.close()
  }

  /** Another shard has fetched a robots.txt for this one. */
  robotsArrived(rules: RobotsArrived): void {
    this.#robotsFetches.robotsArrived(rules)
  }

  /** The whole visit. A known page keeps its record even if the visit fails. */
  visit(request: CrawlRequest): Promise<VisitResult> {
    const visiting = this.#trackInFlight(request)
    const { purpose } = request
    if (purpose?.kind === 'feed' && this.#feedVisits) return this.#feedVisits.keep(request, purpose, visiting)
    return request.revisit === true && this.#revisitProcessor
      ? this.#revisitProcessor.keepKnown(request, visiting)
      : visiting
  }

  /** Records the visit in the in-flight log, and gives up URLs that crashed workers. */
  #trackInFlight(request: CrawlRequest): Promise<VisitResult> {
    const { inFlight } = this.#parts
    if (inFlight === undefined) return this.#dispatch(request)
    const message = inFlight.fatal(request)
    if (message !== undefined) return this.#giveUpCrashed(request, message)
    inFlight.start(request)
    return this.#dispatch(request)
  }

  async #giveUpCrashed(request: CrawlRequest, message: string): Promise<Settlement> {
    await this.#reports.failure(request, { code: 'worker-crashed', message }, true)
    return notVisited(request)
  }

  /** Chooses what to do by purpose, block-list and the health of the host. */
  #dispatch(request: CrawlRequest): Promise<VisitResult> {
    const { purpose } = request
    // Must not be in a frontier; if it is, settle it.
    if (purpose?.kind === 'rules') return Promise.resolve(notVisited(request))
    if (purpose?.kind === 'robots') return this.#robotsFetches.fetchForOther(request, purpose.origin)
    if (this.#admission.isBlocked(request)) return this.#dropBlocked(request)
    if (isDown(request.hostTrouble, this.#rules)) {
      const at = nextProbeAt(request.hostTrouble!, this.#rules)
      if (purpose?.kind === 'feed' && this.#feedVisits) {
        if (at > this.#parts.clock.now()) return this.#feedVisits.hostDown(request, purpose, at)
        return this.#feedVisits.visit(request, purpose)
      }
      if (this.#revisitProcessor === undefined || request.revisit !== true) {
        if (!this.#retriesHost(request)) return this.#failHostDown(request)
      } else if (at > this.#parts.clock.now()) return this.#revisitProcessor.hostDown(request, at)
    }
    if (purpose === undefined) return this.#fetchWithinQuotas(request)
    if (purpose.kind === 'sitemap') return this.#fetchSitemap(request, purpose)
    if (this.#feedVisits) return this.#feedVisits.visit(request, purpose)
    // A store that follows feeds is not opened without them.
    return Promise.resolve(postponed(request, this.#parts.clock.now() + FEED_RETRY_MS))
  }

  /** Whether an earlier run gave the host up and this one retries it. */
  #retriesHost({ hostTrouble }: CrawlRequest): boolean {
    return this.#rules.retryFailed && hostTrouble!.since < this.#openedAt
  }

  /** Claims one of the host's and one of the site's pages first, if they are limited. */
  #fetchWithinQuotas(request: CrawlRequest): Promise<VisitResult> {
    const { host, site } = this.#quotas
    return host.isLimited || site.isLimited ? this.#claimQuotas(request) : this.#fetchPage(request)
  }

  async #claimQuotas(request: CrawlRequest): Promise<VisitResult> {
    // A known page already counts against the limit of its host.
    if (request.revisit === true && (await this.#knownPages?.wasSeen(request)))
      return this.#fetchPage(request)
    const site = this.#parts.siteOf(request.host)
    const hostClaim = this.#quotas.host.claim(request.host)
    const siteClaim = hostClaim === 'go' ? this.#quotas.site.claim(site) : 'go'
    if (hostClaim === 'go' && siteClaim !== 'go') this.#quotas.host.release(request.host, false)
    if (hostClaim === 'full' || siteClaim === 'full') {
      this.#reports.skipped(
        request.url,
        hostClaim === 'full' ? 'host-limit' : 'site-limit',
        request.parent,
        request,
      )
      return notVisited(request)
    }
    if (hostClaim === 'wait' || siteClaim === 'wait') {
      const at = this.#quotas.host.retryAt(this.#parts.clock.now())
      return { ...postponed(request, at), hostNotBefore: at }
    }
    let delivered = false
    try {
      const visited = await this.#fetchPage(request)
      delivered = visited.delivered === true
      return delivered ? { ...visited, countsAgainstQuota: true } : visited
    } finally {
      this.#quotas.host.release(request.host, delivered)
      this.#quotas.site.release(site, delivered)
    }
  }

  async #fetchPage(request: CrawlRequest): Promise<VisitResult> {
    const checking = this.#checkRobots(request)
    const settled = checking instanceof Promise ? await checking : checking
    if (settled !== undefined) return settled
    const loggedIn = this.#sessionStep && (await this.#sessionStep.before(request))
    if (loggedIn !== undefined) return loggedIn
    const lookingUp = this.#knownPages?.lookUp(request, this.#pageFetch)
    const lookup = lookingUp instanceof Promise ? await lookingUp : lookingUp
    const startedAt = this.#parts.clock.now()
    const seedPage = this.#feedVisits?.seedPages.take(request.url)
    const outcome =
      seedPage?.response ?? (await this.#fetchStep.fetch(request, lookup?.fetch ?? this.#pageFetch))
    const visited = this.#settlePage(request, outcome, lookup, startedAt, seedPage?.timing)
    return outcome.archived ? unvisited(await visited) : visited
  }

  async #settlePage(
    request: CrawlRequest,
    outcome: Outcome,
    lookup: RevisitLookup | undefined,
    startedAt: number,
    seedTiming: FetchTiming | undefined,
  ): Promise<VisitResult> {
    const endedAt = this.#parts.clock.now()
    const timing = seedTiming ?? { fetchedAt: endedAt, fetchMs: endedAt - startedAt }
    const over = this.#sessionStep && (await this.#sessionStep.after(request, outcome, startedAt, endedAt))
    if (over !== undefined) return over
    if (lookup?.fetch.known !== undefined && outcome.ok && outcome.status === NOT_MODIFIED) {
      return this.#revisitProcessor!.compare(request, lookup, outcome, timing)
    }
    const revisits = this.#revisitsOf(request)
    const { verdict, page } = this.#judgePage(request, outcome, timing)
    if (verdict.kind !== 'page') {
      const settled = await this.#settleWithoutPage(request, outcome, verdict, startedAt, endedAt)
      if (settled.again !== undefined || !revisits) return settled
      if (request.revisit !== true)
        return verdict.kind === 'failure' ? revisits.failed(request, settled, verdict) : settled
      return revisits.missed(request, lookup, settled, outcome, timing, verdict)
    }
    if (revisits) return revisits.compare(request, lookup, outcome as FetchedResponse, timing, page)
    const processed = await this.#processor.process(request, outcome as FetchedResponse, timing, page)
    if (processed === UNDELIVERED) return repeated(request, endedAt)
    return this.#settleReached(request, startedAt, endedAt, processed)
  }

  /** Undefined if robots.txt allows it. Otherwise the visit ends: denied, postponed, or used to fetch robots.txt. */
  #checkRobots(request: CrawlRequest): MaybePromise<Settlement | undefined> {
    const verdict = this.#parts.robots.check(request, this.#parts.clock.now())
    if (verdict !== 'allow') return this.#obeyRobots(request, verdict)
    const queueing =
      request.purpose === undefined ? this.#robotsFetches.queueDeferredSitemaps(request.url) : undefined
    return queueing?.then(() => undefined)
  }

  async #obeyRobots(request: CrawlRequest, verdict: Exclude<RobotsVerdict, 'allow'>): Promise<Settlement> {
    if (verdict === 'deny') {
      this.#reports.skipped(request.url, 'robots', request.parent, request)
      return notVisited(request)
    }
    if ('failed' in verdict) {
      await this.#reports.failure(request, verdict.failed, true)
      return this.#giveUp(request)
    }
    if ('retryAt' in verdict)
      return { ...postponed(request, verdict.retryAt), hostNotBefore: verdict.retryAt }
    return this.#robotsFetches.rulesFor(request, verdict.fetch)
  }

  async #dropBlocked(request: CrawlRequest): Promise<Settlement> {
    await this.#admission.reportFailures()
    return notVisited(request)
  }

  async #failHostDown(request: CrawlRequest): Promise<Settlement> {
    const { incidents } = request.hostTrouble!
    const message = `${request.host} has failed ${pluralize(incidents, 'time')} in a row; its URLs are given up`
    await this.#reports.failure(request, { code: 'host-down', message }, true)
    return this.#giveUp(request)
  }

  /** The page failed for good: because its host is in trouble no request was sent, or its session is over. */
  #giveUp(request: CrawlRequest, settled = notVisited(request)): VisitResult {
    const isNewPage = request.purpose === undefined && request.revisit !== true
    const revisits = isNewPage ? this.#revisitsOf(request) : undefined
    return revisits ? revisits.failed(request, settled) : settled
  }

  /** Only what reads is visited again: a form must not be sent on a schedule. */
  #revisitsOf({ extras }: CrawlRequest): RevisitProcessor | undefined {
    return isSafe(extras?.method) ? this.#revisitProcessor : undefined
  }

  /** The host was reached and gave a valid response: it has recovered from earlier failures. */
  #settleReached(
    request: CrawlRequest,
    startedAt: number,
    endedAt: number,
    processed = NO_PAGE,
  ): VisitResult {
    const { found, delivered, documents } = processed
    const hostDelayMs = this.#hostDelayMs(request, endedAt - startedAt)
    if (request.hostTrouble === undefined)
      return { request, visitedAt: endedAt, hostDelayMs, found, delivered, documents }
    const hostTrouble = { incidents: 0, since: endedAt }
    return { request, visitedAt: endedAt, hostDelayMs, found, delivered, documents, hostTrouble }
  }

  /** The delay that the host asks for, or the adaptive one, whichever is longer. */
  #hostDelayMs(request: CrawlRequest, fetchMs: number): number | undefined {
    const requested = this.#parts.robots.delayMs(request)
    const { adaptive } = this.#rules
    if (adaptive === undefined) return requested
    return Math.max(requested ?? 0, Math.min(fetchMs * adaptive.factor, adaptive.maxMs))
  }

  async #fetchSitemap(request: CrawlRequest, purpose: Purpose & { kind: 'sitemap' }): Promise<Settlement> {
    const { clock } = this.#parts
    if (!this.#admission.wantsSitemap(purpose)) return notVisited(request)
    if (this.#sitemapsInFlight >= MAX_SITEMAPS_IN_FLIGHT)
      return postponed(request, clock.now() + SITEMAP_RETRY_MS)
    this.#sitemapsInFlight++
    try {
      const settled = await this.#checkRobots(request)
      if (settled !== undefined) return settled
      const startedAt = clock.now()
      const outcome = await this.#fetchStep.fetch(request, SITEMAP_FETCH)
      const visited = await this.#settleSitemap(request, purpose, outcome, startedAt)
      return outcome.archived ? unvisited(visited) : visited
    } finally {
      this.#sitemapsInFlight--
    }
  }

  async #settleSitemap(
    request: CrawlRequest,
    purpose: Purpose & { kind: 'sitemap' },
    outcome: Outcome,
    startedAt: number,
  ): Promise<Settlement> {
    const { clock, extraction } = this.#parts
    const endedAt = clock.now()
    const verdict = this.#judge(request, outcome)
    if (verdict.kind === 'failure' && !verdict.transient && purpose.guessed) {
      return this.#settleReached(request, startedAt, endedAt)
    }
    if (verdict.kind !== 'page') return this.#settleWithoutPage(request, outcome, verdict, startedAt, endedAt)
    for await (const entries of extraction.sitemap((outcome as FetchedResponse).body)) {
      if (this.#fetchStep.isAborted) return repeated(request, endedAt)
      await this.#admission.admitSitemapEntries(entries, request, purpose)
      if (!this.#admission.wantsSitemap(purpose)) break
      // A large sitemap is read in slices, so that other visits continue in between.
      await yieldToLoop(clock)
    }
    this.#tally.sitemaps++
    return this.#settleReached(request, startedAt, endedAt)
  }

  /** A custom fetcher may return invalid outcomes. That is a failure of the URL, not of the crawl. */
  #judge(request: CrawlRequest, outcome: Outcome): Verdict {
    try {
      return judge(request, outcome, this.#rules)
    } catch (error) {
      const message = `the fetcher returned an invalid outcome: ${messageOf(error)}`
      return { kind: 'failure', code: 'fetcher-failed', message, transient: false, final: true }
    }
  }

  /** Like `#judge`; a page may also be out of a scope that depends on pages. `page` is the one that was judged. */
  #judgePage(
    request: CrawlRequest,
    outcome: Outcome,
    timing: FetchTiming,
  ): { readonly verdict: Verdict; readonly page?: Page } {
    const verdict = this.#judge(request, outcome)
    const { pageScope } = this.#admission
    if (verdict.kind !== 'page' || pageScope === undefined) return { verdict }
    try {
      const page = this.#parts.extraction.pageOf(request, outcome as FetchedResponse, timing)
      if (pageScope.keeps(request, page)) return { verdict, page }
      return { verdict: { kind: 'skip', reason: 'language' } }
    } catch (error) {
      const message = `a scope rule threw: ${messageOf(error)}`
      return { verdict: { kind: 'failure', code: 'scope-failed', message, transient: false, final: true } }
    }
  }

  async #settleWithoutPage(
    request: CrawlRequest,
    outcome: Outcome,
    verdict: Exclude<Verdict, { kind: 'page' }>,
    startedAt: number,
    endedAt: number,
  ): Promise<Settlement> {
    switch (verdict.kind) {
      case 'skip':
        this.#reports.skipped(request.url, verdict.reason, request.parent, request)
        return this.#settleReached(request, startedAt, endedAt)
      case 'redirect': {
        const status = (outcome as FetchedResponse).status
        await this.#reports.redirected(request, verdict.to, status)
        const found = await this.#admission.admitRedirect(verdict.to, request, verdict.extras)
        if (found === undefined) {
          const message = `redirects to ${verdict.to}, which is the same URL after its parameters are dropped`
          await this.#reports.failure(request, { code: 'redirect-loop', message, status }, true)
        }
        return this.#settleReached(request, startedAt, endedAt, { delivered: false, found })
      }
      case 'failure':
        return this.#settleFailure(request, outcome, verdict, startedAt, endedAt)
    }
  }

  async #settleFailure(
    request: CrawlRequest,
    outcome: Outcome,
    verdict: FailureVerdict,
    startedAt: number,
    endedAt: number,
  ): Promise<Settlement> {
    if (isLocalShortage(outcome) || (verdict.code === 'aborted' && this.#fetchStep.wasAborted(request))) {
      return repeated(request, endedAt)
    }
    await this.#reports.failure(
      request,
      { ...verdict, cause: (outcome as { cause?: unknown }).cause },
      verdict.final,
    )
    const retryAfter = outcome.ok ? retryAfterMs(outcome.headers.get('retry-after'), endedAt) : undefined
    if (!verdict.transient) {
      // Only a response proves that the host has recovered; a rejected certificate or address does not.
      const reached = this.#settleReached(request, startedAt, endedAt)
      const settled = outcome.ok ? reached : { request, visitedAt: endedAt, hostDelayMs: reached.hostDelayMs }
      if (verdict.final) return settled
      // The user asked for the retry. The URL waits, and the host, which is well, does not.
      const at = endedAt + retryWaitMs(request.attempt, retryAfter, this.#rules)
      return { ...settled, again: { at, attempt: request.attempt + 1 } }
    }
    const visit = { startedAt, endedAt, retryAfterMs: retryAfter }
    const { trouble, hostNotBefore, retryAt } = backOff(
      request.hostTrouble,
      visit,
      this.#rules,
      this.#parts.random.next(),
    )
    const hostDelayMs = this.#hostDelayMs(request, endedAt - startedAt)
    const settlement = { request, visitedAt: endedAt, hostDelayMs, hostNotBefore, hostTrouble: trouble }
    return verdict.final
      ? settlement
      : { ...settlement, again: { at: retryAt, attempt: request.attempt + 1 } }
  }
}

/** Lets timers and sockets run. */
export function yieldToLoop(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.wakeAt(clock.now(), resolve)
  })
}
