import { hostOf, originOf } from '../url/canonicalize.js'
import { urlIn } from '../url/known-as.js'

const HTTP = /^https?:\/\/[^/]+\//

/** The partitions of names. Remembers the last origin, for links of one host stand together. */
export class PartitionLookup {
  readonly #partitionOf: (host: string) => number
  /** With the slash behind it; at first one that no name begins with. */
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
