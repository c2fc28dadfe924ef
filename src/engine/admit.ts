import { KumoError, messageOf } from '../errors.js'
import type { Extracted } from '../extract/contract.js'
import type { HostPartitioner } from '../partition/contract.js'
import type { CrawlRequest, MaybePromise, SkipReason } from '../types.js'
import { hostOf, originOf } from '../url/canonicalise.js'
import { baseFor, resolve } from '../url/resolve.js'
import { scopeTarget } from '../url/scope.js'
import { MetLinks } from './met-links.js'
import type { Parts } from './parts.js'

/** Origins whose place is remembered; beyond that all are forgotten and worked out anew. */
const PLACES_REMEMBERED = 10_000
const SLASH = 0x2f

/** What is known of an origin: worked out once instead of per link. */
interface Place {
  readonly host: string
  readonly owner: number
  /** Undefined: depends on more than the origin. */
  readonly inScope: boolean | undefined
}

/** Told what did not get in. */
export interface AdmissionReport {
  skipped(url: string, reason: SkipReason, parent: string | undefined): void
  scopeFailed(url: string, message: string, cause: unknown): MaybePromise<void>
  /** Whether the host has had all the pages it may have. */
  hostFull(host: string): boolean
}

/**
 * The door of the crawl: canonicalise → scope → mine? → seen → frontier. Links of other shards' hosts leave
 * through the exchange and are checked against the seen-set by their owner.
 *
 * This is the hot path (sixty links a page): what can be said of an origin is said once, and a link that is known
 * already costs no object.
 */
export class Admission {
  readonly #parts: Parts
  readonly #maxDepth: number
  readonly #report: AdmissionReport
  #places = new Map<string, Place>()
  readonly #met = new MetLinks()
  /** Links at which the scope threw: filled while a page's links are looked at, told when the rest is taken in. */
  readonly #scopeFailures: { url: string; error: unknown }[] = []

  constructor(parts: Parts, maxDepth: number, report: AdmissionReport) {
    this.#parts = parts
    this.#maxDepth = maxDepth
    this.#report = report
  }

  /** Seeds are wanted whatever the scope says. Canonical URLs. */
  async seeds(urls: readonly string[]): Promise<void> {
    const { scope } = this.#parts
    if (scope.addSeed !== undefined) {
      for (const url of urls) scope.addSeed(url)
      this.#places = new Map()
    }
    const batch = new Batch()
    for (const url of urls) batch.put(url, this.#placeOf(originOf(url)))
    await this.#take(batch, (url, host) => request(url, host, 0, 0, 0, undefined))
  }

  /** The links of a page. Each is admitted, sent to its owner, or reported as skipped; known ones are dropped. */
  links(extracted: Extracted, from: CrawlRequest): MaybePromise<void> {
    const base = baseFor(extracted.base)
    const here = this.#placeOf(base.origin)
    const depth = from.depth + 1
    const batch = new Batch()
    let priorities: Map<string, number> | undefined
    const met = this.#met
    met.turnTo(base.origin)
    const { links } = extracted
    for (let i = 0; i < links.length; i++) {
      const comparable = links.fingerprint(i, met.link)
      if (comparable && met.has()) continue
      const link = links.at(i)
      const url = resolve(link.href, base)
      if (url === undefined) {
        this.#report.skipped(link.href, 'not-http', from.url)
        continue
      }
      const sameOrigin = url.startsWith(base.origin) && url.charCodeAt(base.origin.length) === SLASH
      const place = sameOrigin ? here : this.#placeOf(originOf(url))
      if (!this.#wanted(url, place, depth, from)) continue
      batch.put(url, place)
      if (comparable) met.add(link.href)
      if (link.priority !== undefined) {
        priorities ??= new Map()
        priorities.set(url, link.priority)
      }
    }
    if (batch.isEmpty && this.#scopeFailures.length === 0) return
    return this.#take(batch, (url, host) => request(url, host, depth, priorities?.get(url) ?? 0, 0, from.url))
  }

  /** The target of a redirect: as deep as its source, and a request of its own on its own host. */
  async redirect(to: string, from: CrawlRequest): Promise<void> {
    const place = this.#placeOf(originOf(to))
    const batch = new Batch()
    if (this.#wanted(to, place, from.depth, from)) batch.put(to, place)
    await this.#take(batch, (url, host) =>
      request(url, host, from.depth, from.priority, from.redirects + 1, from.parent),
    )
  }

  /** What other shards found. Their owner's part of the checks is still to be made. */
  async arrivals(requests: readonly CrawlRequest[]): Promise<void> {
    const fresh = await this.#parts.seen.addAll(requests.map((each) => each.url))
    await this.#parts.frontier.add(requests.filter((_, i) => fresh[i]))
  }

  #wanted(url: string, place: Place, depth: number, from: CrawlRequest): boolean {
    if (!this.#inScope(url, place, depth, from)) return false
    if (depth > this.#maxDepth) {
      this.#report.skipped(url, 'depth', from.url)
      return false
    }
    if (this.#report.hostFull(place.host)) {
      this.#report.skipped(url, 'host-limit', from.url)
      return false
    }
    return true
  }

  #inScope(url: string, place: Place, depth: number, from: CrawlRequest): boolean {
    let inScope = place.inScope
    if (inScope === undefined) {
      try {
        inScope = this.#parts.scope.test(scopeTarget(url, depth, from.url))
      } catch (error) {
        this.#scopeFailures.push({ url, error })
        return false
      }
    }
    if (!inScope) this.#report.skipped(url, 'scope', from.url)
    return inScope
  }

  async #take(batch: Batch, make: (url: string, host: string) => CrawlRequest): Promise<void> {
    const failures = this.#scopeFailures.splice(0)
    if (batch.mine.length > 0) {
      const answer = this.#parts.seen.addAll(batch.mine)
      const fresh = answer instanceof Promise ? await answer : answer
      if (fresh?.length !== batch.mine.length) throw wrongAnswer(batch.mine.length)
      const requests: CrawlRequest[] = []
      for (let i = 0; i < fresh.length; i++) {
        if (fresh[i]) requests.push(make(batch.mine[i]!, batch.hosts[i]!))
      }
      if (requests.length > 0) {
        const added = this.#parts.frontier.add(requests)
        if (added instanceof Promise) await added
      }
    }
    if (batch.others !== undefined) {
      for (const [owner, urls] of batch.others) {
        this.#parts.exchange.send(
          owner,
          urls.map((url) => make(url, hostOf(url))),
        )
      }
    }
    for (const { url, error } of failures) {
      await this.#report.scopeFailed(url, `the scope threw: ${messageOf(error)}`, error)
    }
  }

  #placeOf(origin: string): Place {
    let place = this.#places.get(origin)
    if (place === undefined) {
      if (this.#places.size >= PLACES_REMEMBERED) this.#places = new Map()
      place = this.#findPlace(origin)
      this.#places.set(origin, place)
    }
    return place
  }

  #findPlace(origin: string): Place {
    const { partitioner, ownership, scope } = this.#parts
    const url = `${origin}/`
    const host = hostOf(url)
    const owner = ownership.ownerOf(partitionOf(host, partitioner))
    let inScope: boolean | undefined
    try {
      if (scope.perOrigin) inScope = scope.test(scopeTarget(url, 0, undefined))
    } catch {
      // It is asked again for the link itself, and what it throws then is that link's failure.
    }
    return { host, owner: owner === ownership.self ? MINE : owner, inScope }
  }
}

const MINE = -1

function wrongAnswer(urls: number): KumoError {
  const message = `seen.addAll must answer with one boolean for each of ${urls} URLs`
  return new KumoError('KUMO_CONTRACT_BROKEN', message)
}

/** A partition that does not exist would send its hosts to a shard that does not exist, and nobody would notice. */
function partitionOf(host: string, partitioner: HostPartitioner): number {
  const { partitions } = partitioner
  let partition: unknown
  try {
    partition = partitioner.partition(host)
  } catch (cause) {
    if (cause instanceof KumoError) throw cause
    const message = `the partitioner threw for partition('${host}'): ${messageOf(cause)}`
    throw new KumoError('KUMO_CONTRACT_BROKEN', message, { cause })
  }
  if (Number.isInteger(partition) && (partition as number) >= 0 && (partition as number) < partitions) {
    return partition as number
  }
  const message = `partition('${host}') must be a whole number from 0 to ${partitions - 1}, not ${String(partition)}`
  throw new KumoError('KUMO_CONTRACT_BROKEN', message)
}

/** URLs on their way in, those of this shard apart from those of others. */
class Batch {
  readonly mine: string[] = []
  readonly hosts: string[] = []
  others: Map<number, string[]> | undefined = undefined

  get isEmpty(): boolean {
    return this.mine.length === 0 && this.others === undefined
  }

  put(url: string, place: Place): void {
    if (place.owner === MINE) {
      this.mine.push(url)
      this.hosts.push(place.host)
      return
    }
    this.others ??= new Map()
    const urls = this.others.get(place.owner)
    if (urls === undefined) this.others.set(place.owner, [url])
    else urls.push(url)
  }
}

function request(
  url: string,
  host: string,
  depth: number,
  priority: number,
  redirects: number,
  parent: string | undefined,
): CrawlRequest {
  return { url, host, depth, priority, attempt: 0, redirects, parent }
}
