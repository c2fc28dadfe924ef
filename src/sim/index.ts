export { checkRun, type Finding, type FindingKind, type RunRecord } from './checks.js'
export type { ExpectedCrawl } from './expected.js'
export type { FeedForecast, FeedSimulation, FeedWorld, SimulatedFeed } from './feeds/contract.js'
export { feedsOf, type RecordedFeeds } from './feeds/crawled.js'
export { describeFeeds, type FeedDescription } from './feeds/described.js'
export { feedHistory, type HistoryOptions } from './feeds/history.js'
export type { PostingHabits } from './feeds/posting.js'
export { simulateFeeds } from './feeds/run.js'
export type {
  RefreshForecast,
  RefreshSimulation,
  RefreshWorld,
  SimulatedPage,
  SimulatedServer,
} from './refresh/contract.js'
export {
  type Distribution,
  describeWorld,
  type RefreshRecords,
  type WorldDescription,
  worldOf,
} from './refresh/described.js'
export type { Lateness } from './refresh/punctuality.js'
export { refreshRules } from './refresh/rules.js'
export { simulateRefresh } from './refresh/run.js'
export { type DriveBounds, type VirtualClock, virtualClock } from './virtual-clock.js'
export { type FetchRecord, type SimulatedWeb, simulatedWeb } from './web.js'
export type { Troubles, WebShape } from './web-map.js'
