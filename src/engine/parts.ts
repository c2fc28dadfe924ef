import type { Exchange } from '../exchange/contract.js'
import type { ExtractionStep } from '../extract/contract.js'
import type { Fetcher } from '../fetch/contract.js'
import type { RobotsGate } from '../fetch/robots-contract.js'
import type { Frontier } from '../frontier/contract.js'
import type { HostPartitioner, Ownership } from '../partition/contract.js'
import type { SeenStore } from '../seen/contract.js'
import type { Clock, Random } from '../time.js'
import type { MaybePromise } from '../types.js'
import type { ScopeTest } from '../url/scope.js'
import type { Outlet } from './outlet.js'
import type { Patience } from './patience.js'
import type { RetryRules } from './settle.js'

/** Everything a shard is made of. The engine builds none of it: see `plan.ts`. */
export interface Parts {
  readonly clock: Clock
  readonly random: Random
  readonly frontier: Frontier
  readonly seen: SeenStore
  readonly partitioner: HostPartitioner
  readonly ownership: Ownership
  readonly exchange: Exchange
  readonly robots: RobotsGate
  readonly fetcher: Fetcher
  readonly extraction: ExtractionStep
  readonly scope: ScopeTest
  readonly outlet: Outlet
  /** Batches of seed URLs in canonical form, or of what could not be read as one. Pulled as they are needed. */
  readonly seeds: AsyncIterator<readonly Seed[]> | Iterator<readonly Seed[]>
  /** Closes all parts; called once, when the loop is over. Whoever outlasts the run's patience is left behind. */
  close(patience: Patience): MaybePromise<void>
}

export type Seed = { readonly url: string } | { readonly invalid: string; readonly message: string }

/** What the engine itself must know. All times in ms. */
export interface EngineRules extends RetryRules {
  readonly concurrency: number
  readonly fetchTimeoutMs: number
  /** Links followed from a seed; Infinity for no bound. */
  readonly maxDepth: number
  /** With several connections to one host, the gap between visits says nothing and is not reported. */
  readonly connectionsPerHost: number
  readonly limit: {
    readonly pages: number
    readonly bytes: number
    readonly timeMs: number
    readonly pagesPerHost: number
  }
}
