/**
 * `kumo`: what a program that crawls needs. It has at most 60 names (test/entries.test.ts counts them); what only authors
 * of adapters need is in `kumo/adapters`.
 */

export { Crawler, type RunOptions } from './crawler.js'
export type { CrawlEvents, WorkerEvent } from './engine/events.js'
export type { EndReason, Stats, Summary } from './engine/stats/stats.js'
export { KumoError, type KumoErrorCode } from './errors.js'
export type { Extractor, Page, PageLink } from './extract/contract.js'
export { select } from './extract/select/select.js'
export { parseSitemap } from './extract/sitemap/sitemap.js'
export type { Fetcher } from './fetch/contract.js'
export { parseRobots } from './fetch/robots/parse.js'
export type { Frontier } from './frontier/contract.js'
export type { Hook } from './hooks/contract.js'
export { session } from './hooks/session/session.js'
export { fromModule } from './modules/module.js'
export type { RefreshOptions } from './options/check-refresh.js'
export type { RetryOptions } from './options/options.js'
export type { SeedInput } from './options/seeds.js'
export type { HostPartitioner } from './partition/contract.js'
export type { Feasibility } from './refresh/contract.js'
export type { CrawlRun } from './run/crawl-run.js'
export type { SeenStore } from './seen/contract.js'
export type { Store, StoreEvent } from './stores/contract.js'
export { inspectCrawl } from './stores/inspect.js'
export type { Inspection } from './stores/level/inspect/inspect.js'
export { type LevelOptions, level } from './stores/level/level.js'
export { memory } from './stores/memory.js'
export type { Change, CrawlRequest, Failure, FailureCode, Redirect, Skip, SkipReason } from './types.js'
export type { RequestOptions } from './url/request-options.js'
export { indexPages } from './url/rewrite.js'
export { all, any, not } from './url/scope/combine.js'
export { pageLanguage } from './url/scope/page-language.js'
export {
  anywhere,
  domain,
  glob,
  matching,
  pathPrefix,
  predicate,
  sameHost,
  sameOrigin,
  sameSite,
} from './url/scope/rules.js'
export type { ScopeLike, ScopeRule } from './url/scope/scope.js'
export { SESSION_PARAMETERS, TRACKING_PARAMETERS } from './url/tracking.js'
