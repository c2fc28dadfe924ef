/** `kumo/feeds`: reads feeds, finds them on pages, and compares one poll with the last. */

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
export { parseFeed } from './parse/parse.js'
