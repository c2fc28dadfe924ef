import type { FetchContext, Validators } from '../../fetch/contract.js'
import { Expiring } from '../deadlines.js'
import type { FetchExpectation } from './fetch-step.js'

/**
 * One per fetch. An `AbortController` costs more than all the rest of the bookkeeping for a page, so it is made
 * only if somebody touches `signal`; our own fetcher sets `onAbort` instead.
 */
export class VisitContext extends Expiring implements FetchContext {
  onAbort: (() => void) | undefined = undefined
  /** Called before the abort when the deadline has passed. */
  onExpire: (() => void) | undefined = undefined
  readonly #expectation: FetchExpectation
  #aborted = false
  #controller: AbortController | undefined = undefined

  constructor(expectation: FetchExpectation) {
    super()
    this.#expectation = expectation
  }

  wants(mediaType: string): boolean {
    return this.#expectation.wants(mediaType)
  }

  get maxBodyBytes(): number | undefined {
    return this.#expectation.maxBodyBytes
  }

  get known(): Validators | undefined {
    return this.#expectation.known
  }

  get cutsBody(): boolean {
    return this.#expectation.cutsBody
  }

  get aborted(): boolean {
    return this.#aborted
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#aborted) this.#controller.abort()
    }
    return this.#controller.signal
  }

  expire(): void {
    this.onExpire?.()
    this.abort()
  }

  abort(): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#controller?.abort()
    this.onAbort?.()
  }
}
