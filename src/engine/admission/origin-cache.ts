import { KumoError, messageOf } from '../../errors.js'
import type { HostPartitioner } from '../../partition/contract.js'
import { hostOf } from '../../url/canonicalize.js'
import { type ScopeTest, scopeTarget } from '../../url/scope/scope.js'
import type { EngineParts } from '../parts.js'

/** Origins whose facts is remembered, some 3 MB; beyond that all are forgotten and worked out anew. */
const MAX_ORIGINS = 20_000

/** The owner of a host that is this shard's. */
export const MINE = -1

/** What is known of an origin: worked out once instead of per link. */
export interface OriginFacts {
  readonly host: string
  readonly owner: number
  /** Undefined: depends on more than the origin. */
  readonly inScope: boolean | undefined
  /** The same for the block-list. */
  readonly blocked: boolean | undefined
}

/** Where URLs belong, by origin. */
export class OriginCache {
  readonly #parts: EngineParts
  #origins = new Map<string, OriginFacts>()
  /** Of the ownership by which they were worked out. */
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
      facts = this.#work(origin)
      this.#origins.set(origin, facts)
    }
    return facts
  }

  /** The shard that owns the hosts of an origin, also if it is this one. */
  ownerOf(origin: string): number {
    const { owner } = this.of(origin)
    return owner === MINE ? this.#parts.ownership.self : owner
  }

  /** To be called when the scope has changed. */
  clear(): void {
    this.#origins = new Map()
  }

  #work(origin: string): OriginFacts {
    const { partitioner, ownership, scope, blocked } = this.#parts
    const url = `${origin}/`
    const host = hostOf(url)
    const owner = ownership.ownerOf(partitionOf(host, partitioner))
    return {
      host,
      owner: owner === ownership.self ? MINE : owner,
      inScope: answerFor(url, scope),
      blocked: blocked === undefined ? false : answerFor(url, blocked),
    }
  }
}

/** What a rule says of a whole origin, if it depends on nothing else. */
function answerFor(url: string, rule: ScopeTest): boolean | undefined {
  try {
    return rule.perOrigin ? rule.test(scopeTarget(url, 0, undefined)) : undefined
  } catch {
    // It is asked again for the link itself, and what it throws then is that link's failure.
    return undefined
  }
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
