/** What threads and machines that run shards must know of an engine. */

export type { Budget } from './budget.js'
export type { CrawlEvents } from './events.js'
export type { EarlierRuns, PageCounts } from './ledger.js'
export type { Parcel } from './moving.js'
export type { Reader } from './outlet.js'
export type { Stats, Summary, WorkerStats } from './stats.js'
