import { counted, messageOf } from '../../errors.js'
import type { FetchedResponse, Outcome } from '../../fetch/contract.js'
import type { RobotsVerdict } from '../../fetch/robots/contract.js'
import type { Settlement } from '../../frontier/contract.js'
import { type Clock, retryAfterMs } from '../../time.js'
import type { CrawlRequest, MaybePromise, Purpose, RobotsArrived } from '../../types.js'
import type { Admission } from '../admission/admission.js'
import { UNDELIVERED } from '../delivery.js'
import type { EngineParts, EngineRules } from '../parts.js'
import type { KnownPages } from '../refresh/known-pages.js'
import { NOT_MODIFIED, RevisitProcessor } from '../refresh/revisit-processor.js'
import type { Meters } from '../stats/meters.js'
import type { Reporter } from '../stats/reporter.js'
import type { Tally } from '../stats/tally.js'
import { type FetchSettings, FetchStep } from './fetch-step.js'
import { backOff, isDown, nextProbeAt } from './host-health.js'
import type { HostQuota } from './host-quota.js'
import { NO_PAGE, PageProcessor } from './page-processor.js'
import { RobotsFetches } from './robots-fetches.js'
import { isLocalShortage, judge, type Verdict } from './verdict.js'
import { notVisited, postponed, repeated, type VisitResult } from './visit-result.js'

/** Sitemaps may have 50 MB (sitemaps.org), whatever pages may have. */
const SITEMAP_FETCH: FetchSettings = { wants: () => true, maxBodyBytes: 50 * 1024 * 1024, cutsBody: true }

/** Each may hold 50 MB in memory. */
const MAX_SITEMAPS_IN_FLIGHT = 4
const SITEMAP_RETRY_MS = 500

/**
 * The way of one request: robots gate → fetch → extract → hooks → admit, and at the end a settlement that says what
 * becomes of it. Whatever the network or the user's code does ends in a settlement; only a store that fails rejects.
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
  readonly #pageFetch: FetchSettings
  readonly #knownPages: KnownPages | undefined
  readonly #revisitProcessor: RevisitProcessor | undefined
  readonly #openedAt: number
  #sitemapsInFlight = 0

  constructor(
    parts: EngineParts,
    rules: EngineRules,
    admission: Admission,
    { meters, tally, reports }: { meters: Meters; tally: Tally; reports: Reporter },
    quotas: { readonly host: HostQuota; readonly site: HostQuota },
    knownPages: KnownPages | undefined,
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
    this.#processor = new PageProcessor(parts, rules, admission, meters, tally, reports)
    this.#pageFetch = {
      wants: (mediaType) => parts.extraction.wants(mediaType),
      cutsBody: rules.truncateBodies,
    }
    this.#revisitProcessor =
      knownPages &&
      new RevisitProcessor(parts, knownPages, this.#processor, tally, (request, startedAt, endedAt, came) =>
        this.#settleReached(request, startedAt, endedAt, came),
      )
  }

  /** Ends every fetch now; their requests stay pending. */
  abort(): void {
    this.#fetchStep.abort()
    this.#parts.delivery.abort()
  }

  /** Leaves no timer behind. */
  close(): void {
    this.#fetchStep.close()
  }

  /** Another shard has fetched rules for us. */
  robotsArrived(rules: RobotsArrived): void {
    this.#robotsFetches.robotsArrived(rules)
  }

  visit(request: CrawlRequest): Promise<VisitResult> {
    const visiting = this.#trackInFlight(request)
    return request.revisit === true && this.#revisitProcessor
      ? this.#revisitProcessor.keepKnown(request, visiting)
      : visiting
  }

  #trackInFlight(request: CrawlRequest): Promise<VisitResult> {
    const { inFlight } = this.#parts
    if (inFlight === undefined) return this.#dispatch(request)
    const message = inFlight.fatal(request.url)
    if (message !== undefined) return this.#giveUpCrashed(request, message)
    inFlight.start(request)
    return this.#dispatch(request)
  }

  async #giveUpCrashed(request: CrawlRequest, message: string): Promise<Settlement> {
    await this.#reports.failure(request, { code: 'worker-crashed', message }, true)
    return notVisited(request)
  }

  #dispatch(request: CrawlRequest): Promise<VisitResult> {
    const { purpose } = request
    // Never in a frontier: whoever put it there gets it settled.
    if (purpose?.kind === 'rules') return Promise.resolve(notVisited(request))
    if (purpose?.kind === 'robots') return this.#robotsFetches.fetchForOther(request, purpose.origin)
    if (this.#admission.isBlocked(request)) return this.#dropBlocked(request)
    if (isDown(request.hostTrouble, this.#rules)) {
      const at = nextProbeAt(request.hostTrouble!, this.#rules)
      if (this.#revisitProcessor === undefined || request.revisit !== true) {
        if (!this.#retriesHost(request)) return this.#failHostDown(request)
      } else if (at > this.#parts.clock.now()) return this.#revisitProcessor.hostDown(request, at)
    }
    return purpose === undefined ? this.#fetchWithinQuotas(request) : this.#fetchSitemap(request, purpose)
  }

  /** If earlier runs gave the host up, and this one is to try again what they did. */
  #retriesHost({ hostTrouble }: CrawlRequest): boolean {
    return this.#rules.retryFailed && hostTrouble!.since < this.#openedAt
  }

  async #fetchWithinQuotas(request: CrawlRequest): Promise<VisitResult> {
    const { host, site: sites } = this.#quotas
    if (!(host.isLimited || sites.isLimited)) return this.#fetchPage(request)
    // A known page has had its place among those of its host.
    if (request.revisit === true && (await this.#knownPages?.wasSeen(request)))
      return this.#fetchPage(request)
    const site = this.#parts.siteOf(request.host)
    const hostTurn = this.#quotas.host.claim(request.host)
    const siteTurn = hostTurn === 'go' ? this.#quotas.site.claim(site) : 'go'
    if (hostTurn === 'go' && siteTurn !== 'go') this.#quotas.host.release(request.host, false)
    if (hostTurn === 'full' || siteTurn === 'full') {
      this.#reports.skipped(request.url, hostTurn === 'full' ? 'host-limit' : 'site-limit', request.parent)
      return notVisited(request)
    }
    if (hostTurn === 'wait' || siteTurn === 'wait') {
      const at = this.#quotas.host.retryAt(this.#parts.clock.now())
      return { ...postponed(request, at), hostNotBefore: at }
    }
    let delivered = false
    try {
      const visited = await this.#fetchPage(request)
      delivered = visited.delivered === true
      return delivered ? { ...visited, takesPlace: true } : visited
    } finally {
      this.#quotas.host.release(request.host, delivered)
      this.#quotas.site.release(site, delivered)
    }
  }

  async #fetchPage(request: CrawlRequest): Promise<VisitResult> {
    const gate = this.#checkRobots(request)
    const put = gate instanceof Promise ? await gate : gate
    if (put !== undefined) return put
    const looking = this.#knownPages?.lookUp(request, this.#pageFetch)
    const look = looking instanceof Promise ? await looking : looking
    const startedAt = this.#parts.clock.now()
    const outcome = await this.#fetchStep.fetch(request, look?.fetch ?? this.#pageFetch)
    const endedAt = this.#parts.clock.now()
    const timing = { fetchedAt: endedAt, fetchMs: endedAt - startedAt }
    if (look?.fetch.known !== undefined && outcome.ok && outcome.status === NOT_MODIFIED) {
      return this.#revisitProcessor!.compare(request, look, outcome, timing)
    }
    const verdict = this.#judge(request, outcome)
    if (verdict.kind !== 'page') {
      const settled = await this.#settleWithoutPage(request, outcome, verdict, startedAt, endedAt)
      if (settled.again !== undefined || !this.#revisitProcessor) return settled
      if (request.revisit !== true)
        return verdict.kind === 'failure' ? this.#revisitProcessor.failed(request, settled, verdict) : settled
      return this.#revisitProcessor.missed(request, look, settled, outcome, timing, verdict)
    }
    if (this.#revisitProcessor)
      return this.#revisitProcessor.compare(request, look, outcome as FetchedResponse, timing)
    const handled = await this.#processor.process(request, outcome as FetchedResponse, timing)
    if (handled === UNDELIVERED) return repeated(request, endedAt)
    return this.#settleReached(request, startedAt, endedAt, handled)
  }

  /** Undefined: robots.txt has nothing against it. Otherwise the visit ends here: denied, put off, or spent on rules. */
  #checkRobots(request: CrawlRequest): MaybePromise<Settlement | undefined> {
    const verdict = this.#parts.robots.check(request, this.#parts.clock.now())
    if (verdict !== 'allow') return this.#obeyRobots(request, verdict)
    const robotsFetch =
      request.purpose === undefined ? this.#robotsFetches.queueDeferredSitemaps(request.url) : undefined
    return robotsFetch?.then(() => undefined)
  }

  async #obeyRobots(request: CrawlRequest, verdict: Exclude<RobotsVerdict, 'allow'>): Promise<Settlement> {
    if (verdict === 'deny') {
      this.#reports.skipped(request.url, 'robots', request.parent)
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
    const message = `${request.host} has failed ${counted(incidents, 'time')} in a row; its URLs are not tried any more`
    await this.#reports.failure(request, { code: 'host-down', message }, true)
    return this.#giveUp(request)
  }

  /** Nothing was asked, for the host is in trouble. */
  #giveUp(request: CrawlRequest): VisitResult {
    const settled = notVisited(request)
    const isNewPage = request.purpose === undefined && request.revisit !== true
    return isNewPage && this.#revisitProcessor ? this.#revisitProcessor.failed(request, settled) : settled
  }

  /** The host was reached and answered sensibly: its troubles, if it had any, are over. */
  #settleReached(request: CrawlRequest, startedAt: number, endedAt: number, came = NO_PAGE): VisitResult {
    const { found, delivered } = came
    const hostDelayMs = this.#hostDelayMs(request, endedAt - startedAt)
    if (request.hostTrouble === undefined)
      return { request, visitedAt: endedAt, hostDelayMs, found, delivered }
    const hostTrouble = { incidents: 0, since: endedAt }
    return { request, visitedAt: endedAt, hostDelayMs, found, delivered, hostTrouble }
  }

  /** The pause that the host asks for, or that its slowness suggests, if that is longer. */
  #hostDelayMs(request: CrawlRequest, fetchMs: number): number | undefined {
    const asked = this.#parts.robots.delayMs(request)
    const { adaptive } = this.#rules
    if (adaptive === undefined) return asked
    return Math.max(asked ?? 0, Math.min(fetchMs * adaptive.factor, adaptive.maxMs))
  }

  async #fetchSitemap(request: CrawlRequest, purpose: Purpose & { kind: 'sitemap' }): Promise<Settlement> {
    const { clock, extraction } = this.#parts
    if (!this.#admission.wantsSitemap(purpose)) return notVisited(request)
    if (this.#sitemapsInFlight >= MAX_SITEMAPS_IN_FLIGHT)
      return postponed(request, clock.now() + SITEMAP_RETRY_MS)
    this.#sitemapsInFlight++
    try {
      const put = await this.#checkRobots(request)
      if (put !== undefined) return put
      const startedAt = clock.now()
      const outcome = await this.#fetchStep.fetch(request, SITEMAP_FETCH)
      const endedAt = clock.now()
      const verdict = this.#judge(request, outcome)
      if (verdict.kind === 'failure' && !verdict.transient && purpose.guessed) {
        return this.#settleReached(request, startedAt, endedAt)
      }
      if (verdict.kind !== 'page')
        return await this.#settleWithoutPage(request, outcome, verdict, startedAt, endedAt)
      for await (const entries of extraction.sitemap((outcome as FetchedResponse).body)) {
        if (this.#fetchStep.isAborted) return repeated(request, endedAt)
        await this.#admission.admitSitemapEntries(entries, request, purpose)
        if (!this.#admission.wantsSitemap(purpose)) break
        // A large sitemap is read in slices, between which others have their turn.
        await yieldToLoop(clock)
      }
      this.#tally.sitemaps++
      return this.#settleReached(request, startedAt, endedAt)
    } finally {
      this.#sitemapsInFlight--
    }
  }

  /** A fetcher of the user's own may return what nobody can read: that is its failure, not the crawl's. */
  #judge(request: CrawlRequest, outcome: Outcome): Verdict {
    try {
      return judge(request, outcome, this.#rules)
    } catch (error) {
      const message = `the fetcher's answer could not be read: ${messageOf(error)}`
      return { kind: 'failure', code: 'fetcher-failed', message, transient: false, final: true }
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
        this.#reports.skipped(request.url, verdict.reason, request.parent)
        return this.#settleReached(request, startedAt, endedAt)
      case 'redirect': {
        const status = (outcome as FetchedResponse).status
        await this.#reports.redirected(request, verdict.to, status)
        const found = await this.#admission.admitRedirect(verdict.to, request)
        if (found === undefined) {
          const message = `redirects to ${verdict.to}, which is the same page once its parameters are dropped`
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
    verdict: Extract<Verdict, { kind: 'failure' }>,
    startedAt: number,
    endedAt: number,
  ): Promise<Settlement> {
    if (isLocalShortage(outcome) || (this.#fetchStep.isAborted && verdict.code === 'aborted')) {
      return repeated(request, endedAt)
    }
    await this.#reports.failure(
      request,
      { ...verdict, cause: (outcome as { cause?: unknown }).cause },
      verdict.final,
    )
    if (!verdict.transient) {
      // Only an answer shows that the host is well; a certificate that is refused, or an address, shows nothing.
      const went = this.#settleReached(request, startedAt, endedAt)
      return outcome.ok ? went : { request, visitedAt: endedAt, hostDelayMs: went.hostDelayMs }
    }
    const asked = outcome.ok ? retryAfterMs(outcome.headers.get('retry-after'), endedAt) : undefined
    const visit = { startedAt, endedAt, retryAfterMs: asked }
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

/** Lets timers and sockets have their turn. */
export function yieldToLoop(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.wakeAt(clock.now(), resolve)
  })
}
