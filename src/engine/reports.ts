import type { CrawlRequest, Failure, FailureCode, SkipReason } from '../types.js'
import type { Outlet } from './outlet.js'
import type { Tally } from './tally.js'

/** What did not become a page, counted and told. */
export class Reports {
  readonly #outlet: Outlet
  readonly #tally: Tally

  readonly #note: (failure: Failure) => void

  /** `note` is told what was given up. */
  constructor(outlet: Outlet, tally: Tally, note: (failure: Failure) => void) {
    this.#outlet = outlet
    this.#tally = tally
    this.#note = note
  }

  skipped(url: string, reason: SkipReason, parent: string | undefined): void {
    this.#tally.skip(reason)
    if (this.#outlet.hears('skip')) void this.#outlet.tell('skip', { url, reason, parent })
  }

  async failed(failure: Failure): Promise<void> {
    if (failure.final) {
      this.#tally.failure(failure.code)
      this.#note(failure)
    } else this.#tally.retries++
    await this.#outlet.fail(failure)
  }

  /** The failure of a request. */
  failure(
    request: CrawlRequest,
    problem: { code: FailureCode; message: string; status?: number | undefined; cause?: unknown },
    final: boolean,
  ): Promise<void> {
    const { code, message, status, cause } = problem
    return this.failed({ url: request.url, code, message, status, attempt: request.attempt, final, cause })
  }
}
