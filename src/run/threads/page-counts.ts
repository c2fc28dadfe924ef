import type { PageCount, PageCounts } from '../../engine/parts.js'

/** Pages delivered per host and per site, where that is limited and no durable store remembers it. */
export class PageCountsOfShards {
  readonly #partitionOf: (host: string) => number
  readonly #hosts = new Map<string, number>()
  readonly #sites = new Map<string, number>()

  constructor(partitionOf: (host: string) => number) {
    this.#partitionOf = partitionOf
  }

  reported({ hosts, sites }: PageCounts): void {
    for (const [host, pages] of hosts) this.#hosts.set(host, pages)
    for (const [site, pages] of sites) this.#sites.set(site, pages)
  }

  /** Those of the hosts and sites of these partitions. */
  of(partitions: ReadonlySet<number>): PageCounts {
    const of = (counts: ReadonlyMap<string, number>): PageCount[] =>
      [...counts].filter(([name]) => partitions.has(this.#partitionOf(name)))
    return { hosts: of(this.#hosts), sites: of(this.#sites) }
  }
}
