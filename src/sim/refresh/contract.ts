/**
 * A crawl with revisits in virtual time: the schedule and the frontier are those of a real crawl, only the web is
 * simulated. The result is a forecast.
 */

import type { Feasibility, RefreshRules } from '../../refresh/contract.js'
import type { Lateness } from './punctuality.js'

/** A page, as far as the schedule is concerned. */
export interface SimulatedPage {
  /** The mean interval between its changes, which are a Poisson process. Infinity: it never changes. */
  readonly changeMs: number
  /** What a visit downloads. Default 22,000, the mean that Tamura & Kitsuregawa measured. */
  readonly bytes?: number
}

/** A server and its pages. */
export interface SimulatedServer {
  readonly host: string
  readonly pages: readonly SimulatedPage[]
  /** The mean duration of a download. */
  readonly downloadMs: number
  /** The delay that the server requests, if it is longer than the crawl's. */
  readonly delayMs?: number
}

/** Everything there is to visit. */
export interface RefreshWorld {
  readonly servers: readonly SimulatedServer[]
}

/** How a world is crawled, and for how long. */
export interface RefreshSimulation {
  /** Concurrent downloads. */
  readonly sockets: number
  /** The pause of a server after a visit. */
  readonly delayMs: number
  /** From `refreshRules({ … })`. `rounds` and `until` are not simulated. */
  readonly refresh: RefreshRules
  /** Time at the start that is not scored, in which the crawl learns change intervals. Default 0. */
  readonly learningMs?: number
  /** Time after it that is scored. */
  readonly durationMs: number
  /** The same seed gives the same forecast. Pages change in the same way for every number of sockets. Default 1. */
  readonly seed?: number
  /** How much the durations of downloads vary: the standard deviation of their logarithms. Default 0, not at all. */
  readonly downloadSpread?: number
  /** All pages are pending at the beginning, as seeds are. */
  readonly discovery?: 'at-once'
}

/** The result of a simulation, for the scored time. */
export interface RefreshForecast {
  readonly visits: number
  /** Wanted visits that were not made: intervals of a page that passed before its next visit began. */
  readonly missed: number
  readonly changes: number
  /**
   * Changes whose content was fetched before the page's next change, counted when they are fetched. So changes of the
   * time before the scored period make up for those that are fetched after it.
   */
  readonly caught: number
  readonly caughtShare: number
  /** The share of pages whose copy is up to date, averaged over time. */
  readonly freshness: number
  /** For how long a page has differed from its copy, averaged over pages and time; 0 while it does not. */
  readonly meanAgeMs: number
  readonly socketsUsed: { readonly mean: number; readonly peak: number }
  /** As if each visit downloaded the whole page. */
  readonly bytes: number
  /** How long after their scheduled time visits to known pages began. */
  readonly lateness: Lateness
  /** The same relative to the wanted time, before intervals were stretched to what is possible. */
  readonly behindTarget: Lateness
  /** The state of the schedule at the end. */
  readonly feasibility: Feasibility
}
