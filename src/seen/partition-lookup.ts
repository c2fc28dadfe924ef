import { hostOf, originOf } from '../url/canonicalize.js'
import { urlIn } from '../url/known-as.js'

const HTTP = /^https?:\/\/[^/]+\//

/** Finds the partition of a name. Caches the last origin, because links to one host are usually adjacent. */
export class PartitionLookup {
  readonly #partitionOf: (host: string) => number
  /** Including the slash after it. Initially something that no name starts with. */
  #origin = '\0'
  #partition = 0

  constructor(partitionOf: (host: string) => number) {
    this.#partitionOf = partitionOf
  }

  partitionOf(name: string): number {
    if (name.startsWith(this.#origin)) return this.#partition
    const url = urlIn(name)
    const partition = this.#partitionOf(hostOf(url))
    if (url !== name || !HTTP.test(name)) return partition
    this.#origin = `${originOf(url)}/`
    this.#partition = partition
    return partition
  }
}
