/**
 * Tests whether a URL is in one of many directories. It costs one lookup per segment of the URL, however many directories
 * there are, because a crawl may have a million seeds.
 */

export class Prefixes {
  readonly #documents = new Set<string>()
  readonly #directories = new Set<string>()
  #longest = 0

  /** A prefix that ends with a slash is a directory; any other also matches itself. */
  add(prefix: string): void {
    const directory = prefix.endsWith('/') ? prefix : `${prefix}/`
    if (directory !== prefix) this.#documents.add(prefix)
    this.#directories.add(directory)
    this.#longest = Math.max(this.#longest, directory.length)
  }

  /** `address` has no query. */
  matches(address: string): boolean {
    if (this.#documents.has(address)) return true
    let end = Math.min(this.#longest, address.length)
    while (end > 0) {
      end = address.lastIndexOf('/', end - 1) + 1
      if (this.#directories.has(address.slice(0, end))) return true
      end--
    }
    return false
  }
}
