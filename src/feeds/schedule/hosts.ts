/**
 * How many polls the hosts allow. Feeds of one provider share its visit interval, so a thousand of them on one host cannot all
 * be polled every 15 minutes. The frontier keeps the interval; this only counts, to report what cannot be done.
 */

import type { CrowdedHost } from './contract.js'

const DAY_MS = 86_400_000
const MOST_REPORTED = 10

interface HostLoad {
  feeds: number
  /** Polls per day. */
  wanted: number
  intervalMs: number
}

export class HostLoads {
  readonly #hosts = new Map<string, HostLoad>()
  readonly #crowded = new Set<string>()
  readonly #defaultMs: number

  constructor(visitIntervalMs: number) {
    this.#defaultMs = visitIntervalMs
  }

  /** Feeds and polls per day that a host has more, or less, than before. */
  change(host: string, feeds: number, polls: number, intervalMs?: number): void {
    let load = this.#hosts.get(host)
    if (load === undefined) {
      load = { feeds: 0, wanted: 0, intervalMs: this.#defaultMs }
      this.#hosts.set(host, load)
    }
    load.feeds += feeds
    load.wanted = Math.max(0, load.wanted + polls)
    if (intervalMs !== undefined && intervalMs >= 0) load.intervalMs = intervalMs
    if (load.feeds <= 0) this.#hosts.delete(host)
    if (load.feeds > 0 && load.wanted * load.intervalMs > DAY_MS) this.#crowded.add(host)
    else this.#crowded.delete(host)
  }

  report(): {
    readonly crowded: readonly CrowdedHost[]
    readonly crowdedHosts: number
    readonly refusedPerDay: number
  } {
    const crowded = [...this.#crowded].map((host): CrowdedHost => {
      const { feeds, wanted, intervalMs } = this.#hosts.get(host)!
      return { host, feeds, wantedPerDay: wanted, possiblePerDay: DAY_MS / intervalMs }
    })
    return {
      crowded: worstOf(crowded),
      crowdedHosts: crowded.length,
      refusedPerDay: crowded.reduce((sum, each) => sum + refused(each), 0),
    }
  }
}

/** The hosts that refuse most polls. */
export function worstOf(hosts: readonly CrowdedHost[]): readonly CrowdedHost[] {
  return hosts.toSorted((one, other) => refused(other) - refused(one)).slice(0, MOST_REPORTED)
}

function refused({ wantedPerDay, possiblePerDay }: CrowdedHost): number {
  return wantedPerDay - possiblePerDay
}
