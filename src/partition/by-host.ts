/**
 * The default mapping from a host to its partition: a hash of the name. Every thread and machine computes the same
 * result without communication, and hosts are spread evenly.
 */

import { invalidOption, KumoError } from '../errors.js'
import { withRecipe } from '../modules/recipe.js'
import { fingerprint } from '../url/fingerprint.js'
import type { HostPartitioner } from './contract.js'

/** Enough that the shares of a dozen machines differ by a few percent only, and few enough to list in a message. */
const DEFAULT_PARTITIONS = 1024

/** A partition number fits into 16 bits, so that stores can use it as a two-byte prefix of keys. */
export const MAX_PARTITIONS = 65_536

/**
 * Maps each host on its own, including the port if it is not the default one.
 *
 * @example
 * byHost().partition('example.com') // always the same number below 1024
 */
export function byHost(partitions: number = DEFAULT_PARTITIONS): HostPartitioner {
  assertPartitions(partitions)
  const print = new Uint32Array(2)
  const partitioner: HostPartitioner = {
    partitions,
    partition(host) {
      fingerprint(host, print)
      return print[0]! % partitions
    },
  }
  return withRecipe(partitioner, 'byHost', partitions)
}

/**
 * Keeps the hosts of a site together: `siteOf` returns the site of a host, usually its registrable domain. The hosts of
 * a site then share a shard, and with it robots rules, connections and limits.
 */
export function byDomain(
  siteOf: (host: string) => string,
  partitions: number = DEFAULT_PARTITIONS,
): HostPartitioner {
  if (typeof siteOf !== 'function') {
    throw invalidOption('byDomain: siteOf', siteOf, 'a function from host to site')
  }
  const bySite = byHost(partitions)
  return {
    partitions,
    partition(host) {
      const site = siteOf(host)
      if (typeof site === 'string') return bySite.partition(site)
      throw new KumoError(
        'KUMO_CONTRACT_BROKEN',
        `siteOf(${host}) returned ${typeof site}, not a site's name`,
      )
    },
  }
}

function assertPartitions(partitions: number): void {
  if (Number.isInteger(partitions) && partitions >= 1 && partitions <= MAX_PARTITIONS) return
  throw invalidOption('partitions', partitions, `a whole number, 1 to ${MAX_PARTITIONS}`)
}
