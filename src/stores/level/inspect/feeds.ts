/** The feeds of a stored crawl. */

import type { FeedRecord, FeedReport, FeedsInspection } from '../../../feeds/follow/contract.js'
import type { PollAccount } from '../../../feeds/schedule/contract.js'
import type { StateStore } from '../../contract.js'

/** Undefined if the crawl follows none. */
export async function feedsOf(state: StateStore, most: number): Promise<FeedsInspection | undefined> {
  let followed = 0
  let failing = 0
  let ended = 0
  let total: PollAccount | undefined
  let listed: FeedReport[] = []
  for await (const [url, value] of state.space('feeds').entries()) {
    const record = value as FeedRecord
    if (record.ended === true) ended++
    else followed++
    if (record.failure !== undefined && record.ended !== true) failing++
    total = total === undefined ? record.poll.account : sum(total, record.poll.account)
    listed.push(reportOf(url, record))
    // Only the first are wanted, of perhaps a million.
    if (listed.length >= 2 * most + 100) listed = listed.sort(byLoss).slice(0, most)
  }
  if (total === undefined) return undefined
  return { followed, failing, ended, total, listed: listed.sort(byLoss).slice(0, most) }
}

function reportOf(url: string, { title, failure, poll, perDay, burst }: FeedRecord): FeedReport {
  const { account, window, due, why } = poll
  const { lostByDates, lostByRate, delayMs, delays } = account
  return {
    url,
    title,
    failure,
    account,
    lost: lostByDates + lostByRate,
    window,
    perDay,
    burst,
    delayMs: delays > 0 ? delayMs / delays : undefined,
    nextAt: due,
    why,
  }
}

function sum(one: PollAccount, other: PollAccount): PollAccount {
  const added = { ...one } as Record<keyof PollAccount, number>
  for (const name of Object.keys(added) as (keyof PollAccount)[]) added[name] += other[name]
  return added
}

function byLoss(one: FeedReport, other: FeedReport): number {
  return other.lost - one.lost || other.account.fresh - one.account.fresh
}
