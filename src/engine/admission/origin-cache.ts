import { KumoError, messageOf } from '../../errors.js'
import type { HostPartitioner } from '../../partition/contract.js'
import { hostOf } from '../../url/canonicalize.js'
import { type ScopeAnswer, type ScopeTest, scopeTarget } from '../../url/scope/scope.js'
import type { EngineParts } from '../parts.js'

/** Cached origins, some 3 MB; when it is full, the cache starts over. */
const MAX_ORIGINS = 20_000

/** The owner of a host that belongs to this shard. */
export const MINE = -1

/** What holds for all URLs of an origin, computed once instead of per link. */
export interface OriginFacts {
  readonly host: string
  readonly owner: number
  /** Undefined: it depends on more than the origin. */
  readonly inScope: ScopeAnswer | undefined
  /** The same for the block-list. */
  readonly blocked: boolean | undefined
}

/** The facts about each origin. */
export class OriginCache {
  readonly #parts: EngineParts
  #origins = new Map<string, OriginFacts>()
  /** The version of the ownership table that the facts are based on. */
  #ownershipVersion = 0

  constructor(parts: EngineParts) {
    this.#parts = parts
  }

  of(origin: string): OriginFacts {
    const { version } = this.#parts.ownership
    if (version !== this.#ownershipVersion) {
      this.#ownershipVersion = version
      this.clear()
    }
    let facts = this.#origins.get(origin)
    if (facts === undefined) {
      if (this.#origins.size >= MAX_ORIGINS) this.#origins = new Map()
      facts = this.#factsOf(origin)
      this.#origins.set(origin, facts)
    }
    return facts
  }

  /** The number of the shard that owns the host of an origin. */
  ownerOf(origin: string): number {
    const { owner } = this.of(origin)
    return owner === MINE ? this.#parts.ownership.self : owner
  }

  /** Must be called when the scope has changed. */
  clear(): void {
    this.#origins = new Map()
  }

  #factsOf(origin: string): OriginFacts {
    const { partitioner, ownership, scope, blocked } = this.#parts
    const url = `${origin}/`
    const host = hostOf(url)
    const owner = ownership.ownerOf(partitionOf(host, partitioner))
    return {
      host,
      owner: owner === ownership.self ? MINE : owner,
      inScope: answerFor(url, scope),
      blocked: blocked === undefined ? false : isTrue(answerFor(url, blocked)),
    }
  }
}

/** A block-list decides before the fetch, or not at all. */
function isTrue(answer: ScopeAnswer | undefined): boolean | undefined {
  return answer === undefined ? undefined : answer === true
}

/** What a rule says about the whole origin, if it depends on nothing else. */
function answerFor(url: string, rule: ScopeTest): ScopeAnswer | undefined {
  try {
    return rule.perOrigin ? rule.test(scopeTarget(url, 0, undefined)) : undefined
  } catch {
    // The rule is asked again for each link; what it throws then is reported as the failure of that link.
    return undefined
  }
}

/** Checked, because a partition that does not exist would silently lose its hosts. */
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
