/** Sitemaps of one host that are read, whatever the number of their entries; an index may name 50,000. */
const SITEMAPS_PER_HOST = 1000
/** Indexes within indexes: one is usual, more is a mistake or a trap. */
const MAX_NESTED = 3
/** Hosts whose counts are remembered; beyond that the oldest is forgotten. */
const MAX_HOSTS = 100_000

/** How much is taken from the sitemaps of each host. */
export class SitemapQuota {
  readonly #entriesPerHost: number
  readonly #hosts = new Map<string, { sitemaps: number; entries: number }>()

  constructor(entriesPerHost: number) {
    this.#entriesPerHost = entriesPerHost
  }

  claimSitemap(host: string, nested: number): boolean {
    if (this.#entriesPerHost === 0 || nested > MAX_NESTED) return false
    const count = this.#countOf(host)
    return count.entries < this.#entriesPerHost && ++count.sitemaps <= SITEMAPS_PER_HOST
  }

  hasRoom(host: string): boolean {
    return this.#countOf(host).entries < this.#entriesPerHost
  }

  claimEntry(host: string): boolean {
    return ++this.#countOf(host).entries <= this.#entriesPerHost
  }

  #countOf(host: string): { sitemaps: number; entries: number } {
    let count = this.#hosts.get(host)
    if (count === undefined) {
      count = { sitemaps: 0, entries: 0 }
      if (this.#hosts.size >= MAX_HOSTS) this.#hosts.delete(this.#hosts.keys().next().value as string)
      this.#hosts.set(host, count)
    }
    return count
  }
}
