/** Sitemaps read per host, whatever the number of their entries; an index may list 50,000. */
const SITEMAPS_PER_HOST = 1000
/** Nested indexes: one level is usual, more are a mistake or a trap. */
const MAX_NESTED = 3
/** Hosts with counts; beyond that, the oldest is forgotten. */
const MAX_HOSTS = 100_000

/** Limits the sitemaps and entries per host. */
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
