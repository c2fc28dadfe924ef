import type { PollAccount } from './contract.js'

export const EMPTY_ACCOUNT: PollAccount = {
  polls: 0,
  failed: 0,
  fresh: 0,
  recovered: 0,
  futile: 0,
  notModified: 0,
  lostByDates: 0,
  lostByRate: 0,
  gaps: 0,
  delayMs: 0,
  delays: 0,
}

/** The sum of two accounts: of two polls, feeds or shards. Written out, because it is done twice a poll. */
export function addAccounts(one: PollAccount, other: Partial<PollAccount>): PollAccount {
  return {
    polls: one.polls + finite(other.polls),
    failed: one.failed + finite(other.failed),
    fresh: one.fresh + finite(other.fresh),
    recovered: one.recovered + finite(other.recovered),
    futile: one.futile + finite(other.futile),
    notModified: one.notModified + finite(other.notModified),
    lostByDates: one.lostByDates + finite(other.lostByDates),
    lostByRate: one.lostByRate + finite(other.lostByRate),
    gaps: one.gaps + finite(other.gaps),
    delayMs: one.delayMs + finite(other.delayMs),
    delays: one.delays + finite(other.delays),
  }
}

function finite(value: number | undefined): number {
  return value !== undefined && Number.isFinite(value) ? value : 0
}

/** LA: all articles that are estimated to be lost. */
export function lostOf({ lostByDates, lostByRate }: PollAccount): number {
  return lostByDates + lostByRate
}
