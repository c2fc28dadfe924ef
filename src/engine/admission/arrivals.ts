import type { CrawlRequest } from '../../types.js'
import { originOf } from '../../url/canonicalize.js'
import { knownAs } from '../../url/known-as.js'
import type { EngineParts } from '../parts.js'
import type { AdmissionFilter } from './admission-filter.js'
import type { AdmissionsInProgress } from './in-progress.js'
import { MINE, type OriginCache } from './origin-cache.js'

/** What other shards found for hosts of this one. The owner's part of the checks is still to be made. */
export class Arrivals {
  readonly #parts: EngineParts
  readonly #origins: OriginCache
  readonly #filter: AdmissionFilter
  readonly #inProgress: AdmissionsInProgress
  /** For partitions that are on their way to here. */
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
    const asked = mine.filter(needsSeenCheck)
    const fresh = await this.#parts.seen.addAll(asked.map(knownAs))
    const wanted = asked.filter((each, i) => fresh[i] && !this.#filter.isTrap(each.url, each.parent))
    const unasked = asked.length === mine.length ? [] : mine.filter((each) => !needsSeenCheck(each))
    if (wanted.length + unasked.length > 0) await this.#parts.frontier.add([...unasked, ...wanted])
    this.#inProgress.leave(requests)
  }

  /** Whether something is held for partitions that are on their way. */
  get isHolding(): boolean {
    return this.#held.length > 0
  }

  /** What was held has come home, or must go elsewhere. */
  async releaseHeld(): Promise<void> {
    const held = this.#held
    this.#held = []
    if (held.length > 0) await this.admit(held)
    if (!this.isHolding) this.#parts.exchange.hold?.(false)
  }

  /** False: its partition has moved while it was on its way, and it follows; or is yet to come, and it waits. */
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

/** What was sent on without asking whether it is known must not be asked about on arrival. */
function needsSeenCheck({ url, purpose, redirects, via }: CrawlRequest): boolean {
  if (purpose !== undefined) return purpose.kind === 'sitemap' && redirects === 0
  return via?.includes(url) !== true
}
