/**
 * A crawl that visits its pages again, in virtual time: the schedule and the frontier are those of a real crawl, only the
 * web is made up. What it comes to is a forecast.
 */

import type { Feasibility, RefreshRules } from '../../refresh/contract.js'
import type { Lateness } from './punctuality.js'

/** A page, as far as a schedule is concerned. */
export interface SimulatedPage {
  /** The mean interval of its changes, which are a Poisson process. Infinity: it never changes. */
  readonly changeMs: number
  /** What a visit downloads. Default 22,000, the mean that Tamura & Kitsuregawa measured. */
  readonly bytes?: number
}

/** A server, and the pages on it. */
export interface SimulatedServer {
  readonly host: string
  readonly pages: readonly SimulatedPage[]
  /** The mean time of a download. */
  readonly downloadMs: number
  /** The pause that it asks for itself, if that is longer than the crawl's. */
  readonly delayMs?: number
}

/** All that there is to be visited. */
export interface RefreshWorld {
  readonly servers: readonly SimulatedServer[]
}

/** How a world is crawled, and for how long. */
export interface RefreshSimulation {
  /** Downloads at a time. */
  readonly sockets: number
  /** The pause of a server after a visit. */
  readonly delayMs: number
  /** As `refreshRules({ … })` makes them. Passes (`rounds`) and an end (`until`) are not simulated. */
  readonly refresh: RefreshRules
  /** So long nothing is scored: habits are learned. Default 0. */
  readonly learningMs?: number
  /** So long it is scored, after that. */
  readonly durationMs: number
  /** The same seed gives the same forecast. Pages change alike for every number of sockets. Default 1. */
  readonly seed?: number
  /** How much single downloads differ: the standard deviation of their logarithms. Default 0, not at all. */
  readonly downloadSpread?: number
  /** All pages are requests at the beginning, as seeds are. */
  readonly discovery?: 'at-once'
}

/** What a simulation came to, in the scored time. */
export interface RefreshForecast {
  readonly visits: number
  /** Visits that were wished and not made: rounds of a page that were over before its next visit began. */
  readonly missed: number
  readonly changes: number
  /**
   * Changes whose content was seen before the page's next change, counted when they are seen: so what is caught of the
   * time before makes up for what will be caught after.
   */
  readonly caught: number
  readonly caughtShare: number
  /** The share of pages whose copy is up to date, as a mean over time. */
  readonly freshness: number
  /** How long ago a page first differed from its copy, as a mean over pages and time; 0 while it does not. */
  readonly meanAgeMs: number
  readonly socketsUsed: { readonly mean: number; readonly peak: number }
  /** As if each visit read the whole page. */
  readonly bytes: number
  /** By how much visits to known pages began after the instant that was scheduled for them. */
  readonly lateness: Lateness
  /** The same by the instant that was wished, before intervals were lengthened to what is possible. */
  readonly behindTarget: Lateness
  /** How the schedule stands at the end. */
  readonly feasibility: Feasibility
}
