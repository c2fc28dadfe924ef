/** `kumo/feeds`: reads feeds, finds them on pages, compares one poll with the last, and plans the next one. */

export type {
  CompareOptions,
  DiscoverOptions,
  Feed,
  FeedDifference,
  FeedEnclosure,
  FeedEntry,
  FeedHints,
  FeedKind,
  FeedLoss,
  FeedMemory,
  FeedOptions,
  FeedPage,
  FeedProblem,
  FoundFeed,
  MissingEntry,
  NamedEntry,
  NoFeed,
  RecoveredFeed,
  RecoverOptions,
} from './contract.js'
export { compareFeed } from './difference/compare.js'
export { recoverFeed } from './difference/recover.js'
export { discoverFeeds } from './discover/discover.js'
export type {
  DiscoverRules,
  FeedEvent,
  FeedPoll,
  FeedReport,
  FeedStats,
  FeedsInspection,
  FeedsOptions,
  FollowedFeed,
} from './follow/contract.js'
export { parseFeed } from './parse/parse.js'
export { addAccounts } from './schedule/account.js'
export type {
  CrowdedHost,
  NextPoll,
  PollAccount,
  PollAim,
  PollBudget,
  PollFeasibility,
  PollObservation,
  PollOptions,
  PollOutlook,
  PollReason,
  PollRecord,
  PollReport,
  PollRules,
  PollScheduler,
  PriceCurve,
} from './schedule/contract.js'
export { FeedBudget } from './schedule/feed-budget.js'
export { emptyObservation, observationOf, type PollFacts } from './schedule/observation.js'
export { type PollLimits, PollSchedule } from './schedule/poll-schedule.js'
export { pollRules } from './schedule/rules.js'
