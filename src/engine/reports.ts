import { owned } from '../owned.js'
import type { CrawlRequest, Failure, FailureCode, SkipReason } from '../types.js'
import type { HostQuota } from './host-quota.js'
import type { Outlet } from './outlet.js'
import type { Tally } from './tally.js'
import type { AdmissionReport } from './wanted.js'

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
    if (this.#outlet.hears('skip')) void this.#outlet.tell('skip', { url: owned(url), reason, parent })
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

/** What admission tells of URLs that are not wanted, and asks of hosts that may be full. */
export function admissionReport(
  reports: Reports,
  quotas: { readonly host: HostQuota; readonly site: HostQuota },
  siteOf: (host: string) => string,
): AdmissionReport {
  return {
    skipped: (url, reason, parent) => reports.skipped(url, reason, parent),
    scopeFailed: (url, message, cause) =>
      reports.failed({ url, code: 'scope-failed', message, attempt: 0, final: true, cause }),
    isFull(host) {
      if (quotas.host.isFull(host)) return 'host-limit'
      return quotas.site.isFull(siteOf(host)) ? 'site-limit' : undefined
    },
  }
}
