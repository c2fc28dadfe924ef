/**
 * The default way from a host to its partition: a hash of the name. Every thread and machine comes to the same
 * answer without asking anyone, and hosts spread evenly.
 */

import { invalidOption, KumoError } from '../errors.js'
import { withRecipe } from '../modules/recipe.js'
import { fingerprint } from '../url/fingerprint.js'
import type { HostPartitioner } from './contract.js'

/** Enough that a dozen machines get shares within a few percent of each other, few enough to list in a message. */
export const DEFAULT_PARTITIONS = 1024

/** A partition's number fits 16 bits, so that stores can put it before a key in two bytes. */
export const MAX_PARTITIONS = 65_536

/**
 * Each host by itself, the port included where it is not the default.
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
 * Hosts of one site together: `siteOf` names the site of a host, usually its registrable domain. A site's hosts
 * then share a shard, and with it robots rules, connections and limits.
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
