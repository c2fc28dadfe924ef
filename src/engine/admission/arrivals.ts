import type { CrawlRequest } from '../../types.js'
import { originOf } from '../../url/canonicalize.js'
import { knownAs } from '../../url/known-as.js'
import type { EngineParts } from '../parts.js'
import type { AdmissionFilter } from './admission-filter.js'
import type { AdmissionsInProgress } from './in-progress.js'
import { MINE, type OriginCache } from './origin-cache.js'

/** Requests that other shards found for hosts of this one. Only their owner can check whether they are new. */
export class Arrivals {
  readonly #parts: EngineParts
  readonly #origins: OriginCache
  readonly #filter: AdmissionFilter
  readonly #inProgress: AdmissionsInProgress
  /** Requests for partitions that are moving here. Filled on arrival, emptied when the partitions are here. */
  #held: CrawlRequest[] = []

  constructor(
    parts: EngineParts,
    origins: OriginCache,
    filter: AdmissionFilter,
    inProgress: AdmissionsInProgress,
  ) {
    this.#parts = parts
    this.#origins = origins
    this.#filter = filter
    this.#inProgress = inProgress
  }

  async admit(requests: readonly CrawlRequest[]): Promise<void> {
    this.#inProgress.enter(requests)
    const mine = requests.filter((each) => each.purpose?.kind !== 'rules' && this.#isMine(each))
    const checked = mine.filter(needsSeenCheck)
    const isNew = await this.#parts.seen.addAll(checked.map(knownAs))
    const wanted = checked.filter((each, i) => {
      // A seed, which has no parent, is never a trap.
      return isNew[i] && (each.parent === undefined || !this.#filter.isTrap(each))
    })
    const unchecked = checked.length === mine.length ? [] : mine.filter((each) => !needsSeenCheck(each))
    if (wanted.length + unchecked.length > 0) await this.#parts.frontier.add([...unchecked, ...wanted])
    this.#inProgress.leave(requests)
  }

  /** Whether requests are held for partitions that are moving here. */
  get isHolding(): boolean {
    return this.#held.length > 0
  }

  /** Admits the held requests, or forwards them: their partitions have arrived, or will not come. */
  async releaseHeld(): Promise<void> {
    const held = this.#held
    this.#held = []
    if (held.length > 0) await this.admit(held)
    if (!this.isHolding) this.#parts.exchange.hold?.(false)
  }

  /** False if the partition moved away meanwhile (the request is forwarded) or is still moving here (it is held). */
  #isMine(each: CrawlRequest): boolean {
    const { owner, host } = this.#origins.of(originOf(each.url))
    if (owner === MINE) return true
    const { ownership, partitioner, exchange } = this.#parts
    if (ownership.isExpected?.(partitioner.partition(host))) {
      this.#held.push(each)
      exchange.hold?.(true)
    } else exchange.send(owner, [each], true)
    return false
  }
}

/** Requests that were sent whether or not they were known must not be checked on arrival either. */
function needsSeenCheck(request: CrawlRequest): boolean {
  const { purpose, redirects, via } = request
  if (purpose?.kind === 'feed') return redirects === 0 && purpose.returns !== true && request.revisit !== true
  if (purpose !== undefined) return purpose.kind === 'sitemap' && redirects === 0
  return via?.includes(knownAs(request)) !== true
}
