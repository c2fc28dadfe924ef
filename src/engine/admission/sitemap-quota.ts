/** Sitemaps of one host that are read, whatever the number of their entries; an index may name 50,000. */
const SITEMAPS_PER_HOST = 1000
/** Indexes within indexes: one is usual, more is a mistake or a trap. */
const MOST_NESTED = 3
/** Hosts whose counts are remembered; beyond that the oldest is forgotten. */
const HOSTS_REMEMBERED = 100_000

/** How much is taken from the sitemaps of each host. */
export class SitemapQuota {
  readonly #entriesPerHost: number
  readonly #hosts = new Map<string, { sitemaps: number; entries: number }>()

  constructor(entriesPerHost: number) {
    this.#entriesPerHost = entriesPerHost
  }

  takesSitemap(host: string, nested: number): boolean {
    if (this.#entriesPerHost === 0 || nested > MOST_NESTED) return false
    const count = this.#countOf(host)
    return count.entries < this.#entriesPerHost && ++count.sitemaps <= SITEMAPS_PER_HOST
  }

  takesMore(host: string): boolean {
    return this.#countOf(host).entries < this.#entriesPerHost
  }

  takesPage(host: string): boolean {
    return ++this.#countOf(host).entries <= this.#entriesPerHost
  }

  #countOf(host: string): { sitemaps: number; entries: number } {
    let count = this.#hosts.get(host)
    if (count === undefined) {
      count = { sitemaps: 0, entries: 0 }
      if (this.#hosts.size >= HOSTS_REMEMBERED) this.#hosts.delete(this.#hosts.keys().next().value as string)
      this.#hosts.set(host, count)
    }
    return count
  }
}
