/**
 * Suites that prove an adapter keeps its contract: one call from vitest, node:test or any runner with an `it`.
 *
 * @example
 * import { it } from 'node:test'
 * import { seenStoreSuite } from 'kumo/conformance'
 *
 * seenStoreSuite({ it, create: () => new MySeenStore() })
 */
export { clockSuite, randomSuite } from './clock.js'
export { durableStoreSuite } from './durable/durable.js'
export type { DurablePlace } from './durable/lives.js'
export { exchangeSuite } from './exchange/exchange.js'
export { extractorSuite } from './extractor.js'
export { fetcherSuite } from './fetcher.js'
export { frontierSuite } from './frontier/frontier.js'
export { handoverSuite } from './handover/handover.js'
export { hookSuite } from './hook.js'
export { type MembershipSuiteOptions, membershipSuite } from './membership/membership.js'
export type { SharedPlace } from './membership/processes.js'
export { type PageOfOptions, pageOf } from './page.js'
export { ownershipSuite, partitionerSuite } from './partitioner.js'
export { seenStoreSuite } from './seen.js'
export { stateSuite } from './state.js'
export { storeSuite } from './store.js'
export type { It, SuiteOptions } from './suite.js'
