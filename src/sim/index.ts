export { checkRun, type Finding, type FindingKind, type RunRecord } from './checks.js'
export type { ExpectedCrawl } from './expected.js'
export {
  type Distribution,
  describeWorld,
  type RefreshRecords,
  type WorldDescription,
  worldOf,
} from './refresh/described.js'
export { refreshRules } from './refresh/rules.js'
export {
  type Lateness,
  type RefreshForecast,
  type RefreshSimulation,
  type RefreshWorld,
  type SimulatedPage,
  type SimulatedServer,
  simulateRefresh,
} from './refresh/simulate.js'
export { type DriveBounds, type VirtualClock, virtualClock } from './virtual-clock.js'
export { type FetchRecord, type SimulatedWeb, simulatedWeb } from './web.js'
export type { Troubles, WebShape } from './web-map.js'
