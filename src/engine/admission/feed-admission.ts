import type { FoundFeed } from '../../feeds/contract.js'
import type { CrawlRequest, FeedPurpose } from '../../types.js'
import { originOf } from '../../url/canonicalize.js'
import { feedName } from '../../url/known-as.js'
import type { Asked } from '../../url/page-request.js'
import type { RequestSpec } from '../../url/request-options.js'
import type { EngineParts } from '../parts.js'
import type { AdmissionFilter } from './admission-filter.js'
import { RequestBatch } from './batch.js'
import type { AdmissionsInProgress } from './in-progress.js'
import { MINE, type OriginCache } from './origin-cache.js'
import { newRequest, requestOf } from './requests.js'

/** Bounds `#perHost` and `#guessed`; the pages of further hosts add no feeds. */
const MAX_HOSTS = 100_000
const NOTHING_ASKED: Asked = Object.freeze({})
const FOUND: FeedPurpose = Object.freeze({ kind: 'feed' })
const GUESSED: FeedPurpose = Object.freeze({ kind: 'feed', guess: true })

/** Turns what feeds, and pages about feeds, name into requests. The block-list applies to all of it, the scope to none. */
export class FeedAdmission {
  readonly #parts: EngineParts
  readonly #origins: OriginCache
  readonly #filter: AdmissionFilter
  readonly #inProgress: AdmissionsInProgress
  readonly #newIn: (batch: RequestBatch) => Promise<readonly CrawlRequest[]>
  /** Feeds that the pages of a host have added in this run. */
  readonly #perHost = new Map<string, number>()
  /** Common paths that were tried. They take no room from feeds that later pages name. */
  readonly #guessed = new Map<string, number>()

  constructor(
    parts: EngineParts,
    origins: OriginCache,
    filter: AdmissionFilter,
    inProgress: AdmissionsInProgress,
    newIn: (batch: RequestBatch) => Promise<readonly CrawlRequest[]>,
  ) {
    this.#parts = parts
    this.#origins = origins
    this.#filter = filter
    this.#inProgress = inProgress
    this.#newIn = newIn
  }

  /** A seed may be a feed. What is sent to a server, such as a form, is not. */
  asSeed(made: CrawlRequest): CrawlRequest {
    const { method, body } = made.extras ?? {}
    return method === undefined && body === undefined
      ? { ...made, purpose: { kind: 'feed', seed: true } }
      : made
  }

  /** A seed that is no feed is a page. */
  admitSeedPage(from: CrawlRequest): Promise<readonly CrawlRequest[]> {
    const { url, host, depth, priority, extras, via, redirects } = from
    const batch = new RequestBatch()
    const facts = this.#origins.of(originOf(url))
    const made = { ...newRequest(url, host, depth, priority, undefined), ...(extras && { extras }) }
    // A redirect may lead out of the scope.
    if (via === undefined) batch.put(made, facts)
    else if (this.#filter.admits(url, facts, depth, from, from)) batch.put({ ...made, via, redirects }, facts)
    this.#inProgress.enter(from)
    return this.#newIn(batch)
  }

  /** New feeds of a page: those that it names, or guesses. Only those that it declares may be on another host. */
  async admitFound(
    found: readonly FoundFeed[],
    from: CrawlRequest,
    perHost: number,
  ): Promise<readonly CrawlRequest[]> {
    const batch = new RequestBatch()
    const used = found[0]?.from === 'guess' ? this.#guessed : this.#perHost
    let room = roomIn(used, from.host, perHost)
    for (const { url, from: source } of found) {
      if (room === 0) break
      const facts = this.#origins.of(originOf(url))
      if (source !== 'link' && facts.host !== from.host) continue
      if (this.#filter.isBlocked(url, facts, from.depth, from.url, NOTHING_ASKED)) continue
      const purpose = source === 'guess' ? GUESSED : FOUND
      batch.put({ ...newRequest(url, facts.host, from.depth, 0, from.url), purpose }, facts)
      room--
    }
    if (batch.mine.length === 0 && batch.others.size === 0) return NONE
    this.#inProgress.enter(from)
    const admitted = await this.#newIn(batch)
    used.set(from.host, (used.get(from.host) ?? 0) + admitted.length)
    return admitted
  }

  /** New articles of a feed, which were asked for like seeds. */
  admitArticles(articles: readonly RequestSpec[], from: CrawlRequest): Promise<readonly CrawlRequest[]> {
    const batch = new RequestBatch()
    for (const spec of articles) {
      const url = this.#filter.rewritten(spec.url, spec.depth, from.url, spec)
      if (url === undefined) continue
      const facts = this.#origins.of(originOf(url))
      if (this.#filter.isBlocked(url, facts, spec.depth, from.url, spec)) continue
      batch.put(requestOf(spec, url, facts.host, spec.depth, from.url), facts)
    }
    this.#inProgress.enter(from)
    return this.#newIn(batch)
  }

  /** The request itself, for the settlement of `from`, if its host is this shard's. Otherwise it is sent to its owner. */
  route(request: CrawlRequest): readonly CrawlRequest[] {
    const origin = originOf(request.url)
    if (this.#origins.of(origin).owner === MINE) return [request]
    this.#parts.exchange.send(this.#origins.ownerOf(origin), [request])
    return NONE
  }

  /** The feed has moved here: a page that names it finds it known. Called by the visit of `from`, which adds its request. */
  async setKnown(url: string, from: CrawlRequest): Promise<void> {
    this.#inProgress.enter(from)
    await this.#parts.seen.addAll([feedName(url)])
  }
}

function roomIn(used: ReadonlyMap<string, number>, host: string, perHost: number): number {
  const known = used.get(host)
  if (known === undefined) return used.size < MAX_HOSTS ? perHost : 0
  return Math.max(0, perHost - known)
}

const NONE: readonly CrawlRequest[] = Object.freeze([])
