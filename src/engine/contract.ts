/** What the code that runs shards on threads or machines must know about the engine. */

export type { Budget } from './budget.js'
export type { PageReader } from './delivery.js'
export type { CrawlEvents } from './events.js'
export type { PartitionSnapshot } from './partition-moves.js'
export type { EarlierRuns, PageCounts } from './parts.js'
export type { Diagnosis } from './stats/diagnosis.js'
export type { Stats, Summary, WorkerStats } from './stats/stats.js'
