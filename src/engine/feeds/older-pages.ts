import type { Feed } from '../../feeds/contract.js'

/** Bytes of feeds that wait for their older pages. Beyond that, what is missing counts as lost at once. */
const MAX_BYTES = 64 * 1024 * 1024

/** A poll that found entries missing, and reads the older pages of the feed before it is over. */
export interface OpenPoll {
  readonly pages: readonly [Feed, ...Feed[]]
  /** The page to read next. */
  readonly older: string
  readonly status: number
  readonly at: number
  readonly notBefore: number | undefined
  readonly etag: string | undefined
  readonly modified: string | undefined
  readonly bytes: number
}

/**
 * Polls in progress, by the URL of the feed's request. Each page is a visit of its own: in between, the request is pending
 * and the host rests. Filled when a poll finds a gap, emptied when the poll is over. A crash loses them, and the poll begins
 * again.
 */
export class OlderPages {
  readonly #open = new Map<string, OpenPoll>()
  #bytes = 0

  /** Whether another feed may be kept until its older pages are read. */
  get hasRoom(): boolean {
    return this.#bytes < MAX_BYTES
  }

  take(url: string): OpenPoll | undefined {
    const poll = this.#open.get(url)
    if (poll === undefined) return undefined
    this.#open.delete(url)
    this.#bytes -= poll.bytes
    return poll
  }

  keep(url: string, poll: OpenPoll): void {
    this.#open.set(url, poll)
    this.#bytes += poll.bytes
  }
}
