/**
 * `kumo/adapters`: for authors of stores, frontiers, fetchers, extractors and other parts. It has the contracts with every
 * type that they mention, and the parts that Kumo itself uses, to build on.
 */

export type {
  Bottleneck,
  HookStageStats,
  IdleReason,
  QueueStats,
  StageName,
  StageStats,
  WorkerStats,
} from './engine/stats/stats.js'
export type { RetriedFailure, RetryWhen } from './engine/visit/retry.js'
export type { Exchange } from './exchange/contract.js'
export type {
  BareDocument,
  BareElement,
  BareParent,
  Extraction,
  Extractor,
  PageDocument,
  SitemapEntry,
} from './extract/contract.js'
export { contentDigest } from './extract/digest/content-digest.js'
export type { SitemapOptions, SitemapProblem, SitemapProblemCode } from './extract/sitemap/contract.js'
export type {
  FetchContext,
  FetchedResponse,
  Fetcher,
  FetchFailure,
  HttpExchange,
  Outcome,
  ResponseHeaders,
  Validators,
  WireExchange,
} from './fetch/contract.js'
export type { Address } from './fetch/dns/query.js'
export {
  type CachingResolver,
  type CachingResolverOptions,
  cachingResolver,
  type LookupOptions,
  type Resolver,
} from './fetch/dns/resolver.js'
export type {
  AccessOptions,
  Certificates,
  Credentials,
  HostAccess,
  TlsOptions,
} from './fetch/http/access/access.js'
export type { TrustedHosts } from './fetch/http/address-guard.js'
export { type HttpFetcher, type HttpFetcherOptions, httpFetcher } from './fetch/http/http.js'
export type { ProxyOption } from './fetch/http/proxy.js'
export type { Robots } from './fetch/robots/parse.js'
export type {
  Again,
  Frontier,
  HostPoliteness,
  Politeness,
  ReadyHost,
  SelectionPolicy,
  Settlement,
  SharedDocument,
} from './frontier/contract.js'
export { type MemoryFrontierOptions, memoryFrontier } from './frontier/memory.js'
export type {
  Hook,
  HookContext,
  HookPeers,
  HookQueue,
  HookStage,
  PackedPage,
  PeerReceiver,
} from './hooks/contract.js'
export type { SessionConditions, SessionOptions, SessionRule } from './hooks/session/contract.js'
export type { FromModuleOptions, Module, ModuleRef } from './modules/module.js'
export type { HostOptions } from './options/hosts.js'
export type {
  BodyOptions,
  ConnectionOptions,
  DelayOptions,
  DnsOptions,
  HeaderOptions,
  LimitOptions,
  PerHostOptions,
  RobotsRules,
  SitemapRules,
  TimeoutOptions,
  TrapLimits,
  UrlOptions,
  WorkerTuning,
} from './options/options.js'
export { byDomain, byHost } from './partition/by-host.js'
export type { HostPartitioner, Ownership } from './partition/contract.js'
export type { InfeasibleServer, RefreshAim, RefreshPolicy } from './refresh/contract.js'
export type { StopOptions } from './run/crawl-run.js'
export type { PageIterator } from './run/iterate.js'
export type { SeenStore } from './seen/contract.js'
export { type FingerprintTable, fingerprintTable } from './seen/table.js'
export type {
  CrawlLimits,
  Handover,
  Leftover,
  Membership,
  OpenStore,
  Outbox,
  OwnershipListener,
  PartitionLoad,
  ShardContext,
  SharedLimit,
  SharedStore,
  SharedWork,
  StateSpace,
  StateStore,
  Store,
  StoreCondition,
  StoreContext,
  StoreHealth,
  StoreSnapshot,
  TakenDocument,
} from './stores/contract.js'
export type { FailureInspection, HostInspection, InspectOptions } from './stores/level/inspect/inspect.js'
export {
  type Clock,
  type Duration,
  type Random,
  seededRandom,
  systemClock,
  systemRandom,
  type TimeOrigin,
  type Timer,
} from './time.js'
export type {
  FeedPurpose,
  HostTrouble,
  Link,
  MaybePromise,
  PageRequest,
  PlainAnswer,
  Purpose,
  RequestExtras,
  RobotsArrived,
  SitemapHint,
} from './types.js'
export { canonicalizeUrl } from './url/canonicalize.js'
export { knownAs } from './url/known-as.js'
export type { FollowOptions, RequestInput } from './url/request-options.js'
export type { IndexPageOptions, UrlRewrite, UrlRewriteRule } from './url/rewrite.js'
export type { PageLanguageOptions } from './url/scope/page-language.js'
export type {
  ScopeAnswer,
  ScopeName,
  ScopePage,
  ScopePredicate,
  ScopeTarget,
  ScopeTest,
} from './url/scope/scope.js'
export type { TrapOptions } from './url/traps/traps.js'
