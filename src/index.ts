export { Crawler, type RunOptions } from './crawler.js'
export type { CrawlEvents, Redirect, Skip, WorkerEvent } from './engine/events.js'
export type {
  Bottleneck,
  EndReason,
  IdleReason,
  StageName,
  StageStats,
  Stats,
  Summary,
  WorkerStats,
} from './engine/stats/stats.js'
export { KumoError, type KumoErrorCode } from './errors.js'
export type { Exchange } from './exchange/contract.js'
export type {
  BareDocument,
  BareElement,
  BareParent,
  Extraction,
  Extractor,
  Page,
  PageDocument,
  PageLink,
  SitemapEntry,
} from './extract/contract.js'
export { contentDigest } from './extract/digest/content-digest.js'
export type { SitemapOptions, SitemapProblem, SitemapProblemCode } from './extract/sitemap/contract.js'
export { parseSitemap } from './extract/sitemap/sitemap.js'
export type {
  FetchContext,
  FetchedResponse,
  Fetcher,
  FetchFailure,
  Outcome,
  ResponseHeaders,
  Validators,
} from './fetch/contract.js'
export { type CachingResolverOptions, cachingResolver, type Resolver } from './fetch/dns/resolver.js'
export type { AccessOptions, Credentials, TlsOptions } from './fetch/http/access/access.js'
export { type HttpFetcherOptions, httpFetcher } from './fetch/http/http.js'
export { parseRobots, type Robots } from './fetch/robots/parse.js'
export type {
  Again,
  Frontier,
  Politeness,
  ReadyHost,
  SelectionPolicy,
  Settlement,
} from './frontier/contract.js'
export { memoryFrontier } from './frontier/memory.js'
export type { Hook, HookContext } from './hooks/contract.js'
export { fromModule, type Module, type ModuleRef } from './modules/module.js'
export type { RefreshOptions } from './options/check-refresh.js'
export type { RetryOptions, TrapLimits } from './options/options.js'
export type { SeedInput } from './options/seeds.js'
export { byDomain, byHost } from './partition/by-host.js'
export type { HostPartitioner } from './partition/contract.js'
export type { Feasibility, InfeasibleServer, RefreshAim, RefreshPolicy } from './refresh/contract.js'
export type { CrawlRun } from './run/crawl-run.js'
export type { PageIterator } from './run/iterate.js'
export type { SeenStore } from './seen/contract.js'
export { fingerprintTable } from './seen/table.js'
export type {
  Handover,
  OpenStore,
  Outbox,
  PartitionLoad,
  ShardContext,
  SharedStore,
  StateSpace,
  StateStore,
  Store,
  StoreCondition,
  StoreContext,
  StoreEvent,
  StoreSnapshot,
} from './stores/contract.js'
export {
  type FailureInspection,
  type HostInspection,
  type Inspection,
  type InspectOptions,
  inspectCrawl,
} from './stores/level/inspect/inspect.js'
export { type LevelOptions, level } from './stores/level/level.js'
export { memory } from './stores/memory.js'
export {
  type Clock,
  type Duration,
  type Random,
  seededRandom,
  systemClock,
  systemRandom,
  type Timer,
} from './time.js'
export type {
  Change,
  CrawlRequest,
  Failure,
  FailureCode,
  HostTrouble,
  Link,
  MaybePromise,
  Purpose,
  SitemapHint,
  SkipReason,
} from './types.js'
export { canonicalizeUrl } from './url/canonicalize.js'
export { knownAs } from './url/known-as.js'
export { all, any, not } from './url/scope/combine.js'
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
export type { ScopeLike, ScopeName, ScopePredicate, ScopeRule, ScopeTarget } from './url/scope/scope.js'
export { SESSION_PARAMETERS, TRACKING_PARAMETERS } from './url/tracking.js'
