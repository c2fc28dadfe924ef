/** Who owns a partition when nobody joins or leaves: one shard alone, or a fixed number of them. */

import { KumoError } from '../errors.js'
import type { Ownership } from './contract.js'

/** Ownership that never moves has one version. */
const UNMOVED = 0

/** One shard, number 0, owns everything. */
export function soleOwner(): Ownership {
  return { version: UNMOVED, self: 0, ownerOf: () => 0 }
}

/** Partitions are dealt out like cards: shard 0 has 0, n, 2n, …; seen from shard `self` of `shards`. */
export function staticOwnership(self: number, shards: number): Ownership {
  if (!Number.isInteger(shards) || shards < 1) {
    throw new KumoError('KUMO_INVALID_OPTION', `shards is a whole number from 1 on, not ${String(shards)}`)
  }
  if (!Number.isInteger(self) || self < 0 || self >= shards) {
    throw new KumoError('KUMO_INVALID_OPTION', `self is a shard from 0 to ${shards - 1}, not ${String(self)}`)
  }
  return { version: UNMOVED, self, ownerOf: (partition) => partition % shards }
}
