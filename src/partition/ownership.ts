/** Who owns a partition: one shard alone, or several that were dealt them like cards and may pass them on. */

import type { Ownership, OwnershipView } from './contract.js'

/** Ownership that never moves has one version. */
const UNMOVED = 0
/** No shard has this number. */
const NOBODY = -1

/** One shard, number 0, owns everything. */
export function soleOwner(): Ownership {
  return { version: UNMOVED, self: 0, ownerOf: () => 0 }
}

/**
 * Ownership that moves: a table of all partitions, as one shard knows it. Each shard has its own, and may be behind; who
 * receives what is no longer its own passes it on.
 */
export class OwnershipTable implements Ownership {
  readonly self: number
  readonly #owners: Int32Array
  readonly #expected = new Set<number>()
  #version: number

  /** `owners` holds the owner of each partition, as of `version`. */
  constructor(self: number, owners: ArrayLike<number>, version = UNMOVED) {
    this.self = self
    this.#owners = Int32Array.from(owners)
    this.#version = version
  }

  /** Grows with every move. */
  get version(): number {
    return this.#version
  }

  ownerOf(partition: number): number {
    return this.#owners[partition]!
  }

  /** The partitions of a shard, ascending. */
  ownedBy(shard: number): number[] {
    const owned: number[] = []
    for (const [partition, owner] of this.#owners.entries()) if (owner === shard) owned.push(partition)
    return owned
  }

  isExpected(partition: number): boolean {
    return this.#expected.has(partition)
  }

  /** These are on their way to here; or no longer. */
  expect(partitions: readonly number[], isComing: boolean): void {
    for (const partition of partitions) {
      if (isComing) this.#expected.add(partition)
      else this.#expected.delete(partition)
    }
  }

  move(partitions: readonly number[], to: number, version = 0): void {
    for (const partition of partitions) this.#owners[partition] = to
    // Also if that version is known already: whoever remembers owners looks at it alone.
    this.#version = Math.max(this.#version + 1, version)
  }

  /** A shard has begun anew: what others remember of whom they told what is void. */
  renew(): void {
    this.#version++
  }

  /** The owners of all partitions, to begin another table with. */
  get owners(): readonly number[] {
    return [...this.#owners]
  }
}

/** The table of whoever moves partitions, which belongs to no shard. */
export class OwnershipBook extends OwnershipTable implements OwnershipView {
  readonly shards: number

  constructor(partitions: number, shards: number) {
    super(NOBODY, dealt(partitions, shards))
    this.shards = shards
  }
}

/** The owners of partitions that are dealt out like cards over so many shards. */
export function dealt(partitions: number, shards: number): number[] {
  return Array.from({ length: partitions }, (_, partition) => partition % shards)
}
