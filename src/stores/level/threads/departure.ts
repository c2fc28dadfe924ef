import { KumoError } from '../../../errors.js'
import type { LevelHost } from '../frontier/level-host.js'

/**
 * Partitions that are about to move to another thread. Nothing is leased from them any more; requests that are leased
 * or being read are waited for. What is added to them until they have left moves along, and is noted.
 */
export class Departure {
  readonly partitions: ReadonlySet<number>
  readonly #busy: Set<LevelHost>
  #becomeQuiet: () => void = () => {}
  #fail: (error: unknown) => void = () => {}
  readonly #quiet: Promise<void>
  /** Whether anything in them has changed since this was last set to false. */
  touched = false
  /** Resolves when they have left. Callers that add to them wait for it, or the move might never finish. */
  readonly gone: Promise<void>
  #leave: () => void = () => {}
  /** Whether they leave as soon as nothing changes any more. */
  isLast = false

  constructor(partitions: readonly number[], hosts: Iterable<LevelHost>) {
    this.partitions = new Set(partitions)
    this.#busy = new Set()
    for (const host of hosts) if (this.has(host) && isBusy(host)) this.#busy.add(host)
    this.#quiet = new Promise((resolve, reject) => {
      this.#becomeQuiet = resolve
      this.#fail = reject
    })
    // The rejection reaches whoever awaits it.
    this.#quiet.catch(() => {})
    this.gone = new Promise((resolve) => {
      this.#leave = resolve
    })
    if (this.#busy.size === 0) this.#becomeQuiet()
  }

  has(host: LevelHost): boolean {
    return this.partitions.has(host.partitionNumber)
  }

  /** Resolves once none of their requests is leased or being read. */
  get quiet(): Promise<void> {
    return this.#quiet
  }

  /** A host was released, or has been read. */
  look(host: LevelHost): void {
    if (isBusy(host)) return
    if (this.#busy.delete(host) && this.#busy.size === 0) this.#becomeQuiet()
  }

  /** They have left. */
  end(): void {
    this.#leave()
  }

  /** They stay: the store is closing. */
  abandon(): void {
    this.#fail(
      new KumoError('KUMO_STORE_FAILED', 'give: the store was closed before its partitions had left'),
    )
    this.#leave()
  }
}

function isBusy(host: LevelHost): boolean {
  return host.acquired > 0 || host.isLoading
}
