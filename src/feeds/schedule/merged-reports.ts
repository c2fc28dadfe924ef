import { addAccounts, EMPTY_ACCOUNT } from './account.js'
import type { PollReport } from './contract.js'
import { worstOf } from './hosts.js'
import { PRICES } from './prices.js'

/** Reports of several shards as one. */
export function merged(reports: readonly PollReport[]): PollReport {
  const sum = (of: (report: PollReport) => number) => reports.reduce((total, each) => total + of(each), 0)
  const curve = (of: (report: PollReport) => readonly number[]) =>
    Array.from({ length: PRICES }, (_, at) => sum((each) => of(each)[at] ?? 0))
  return {
    feeds: sum((each) => each.feeds),
    perDay: sum((each) => each.perDay),
    curve: {
      polls: curve((each) => each.curve.polls),
      lost: curve((each) => each.curve.lost),
      futile: curve((each) => each.curve.futile),
    },
    price: reports[0]?.price ?? 0,
    spent: sum((each) => each.spent),
    firstPolls: sum((each) => each.firstPolls),
    account: reports.reduce((total, each) => addAccounts(total, each.account), EMPTY_ACCOUNT),
    crowded: worstOf(reports.flatMap((each) => each.crowded)),
    crowdedHosts: sum((each) => each.crowdedHosts),
    refusedPerDay: sum((each) => each.refusedPerDay),
  }
}
