import { KumoError } from '../../../errors.js'
import type { LevelHost } from '../frontier/level-host.js'

/**
 * Partitions that are about to move to another thread. Nothing is leased from them any more; requests that are leased
 * or being read are waited for. What is added to them until they have left moves along, and is noted.
 */
export class Departure {
  readonly partitions: ReadonlySet<number>
  readonly #busy: Set<LevelHost>
  #resolveIdle: () => void = () => {}
  #fail: (error: unknown) => void = () => {}
  readonly #idle: Promise<void>
  /** Whether anything in them has changed since this was last set to false. */
  touched = false
  /** Resolves when they have left. Callers that add to them wait for it, or the move might never finish. */
  readonly gone: Promise<void>
  #leave: () => void = () => {}
  /** Whether they leave as soon as nothing changes any more. */
  isFinal = false

  constructor(partitions: readonly number[], hosts: Iterable<LevelHost>) {
    this.partitions = new Set(partitions)
    this.#busy = new Set()
    for (const host of hosts) if (this.has(host) && isBusy(host)) this.#busy.add(host)
    this.#idle = new Promise((resolve, reject) => {
      this.#resolveIdle = resolve
      this.#fail = reject
    })
    // The rejection reaches the code that awaits it.
    this.#idle.catch(() => {})
    this.gone = new Promise((resolve) => {
      this.#leave = resolve
    })
    if (this.#busy.size === 0) this.#resolveIdle()
  }

  has(host: LevelHost): boolean {
    return this.partitions.has(host.partitionNumber)
  }

  /** Resolves once none of their requests is leased or being read. */
  get idle(): Promise<void> {
    return this.#idle
  }

  /** A host was released, or has been read. */
  check(host: LevelHost): void {
    if (isBusy(host)) return
    if (this.#busy.delete(host) && this.#busy.size === 0) this.#resolveIdle()
  }

  /** They have left. */
  end(): void {
    this.#leave()
  }

  /** They stay: the store is closing. */
  abandon(): void {
    this.#fail(
      new KumoError('KUMO_STORE_FAILED', 'release: the store was closed before its partitions had left'),
    )
    this.#leave()
  }
}

function isBusy(host: LevelHost): boolean {
  return host.isLeased || host.isLoading
}
