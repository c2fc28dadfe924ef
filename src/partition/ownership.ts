/** Who owns a partition: a single shard, or several that start with equal shares and may move partitions. */

import type { Ownership, OwnershipView } from './contract.js'

/** Ownership that never moves has one version. */
const UNMOVED = 0
/** Not the number of any shard. */
const NO_SHARD = -1

/** One shard, number 0, owns everything. */
export function soleOwner(): Ownership {
  return { version: UNMOVED, self: 0, ownerOf: () => 0 }
}

/**
 * Ownership that moves: the owners of all partitions as one shard knows them. Each shard has its own table, which may
 * be outdated; a shard that receives a request for a partition it no longer owns forwards it.
 */
export class OwnershipTable implements Ownership {
  readonly self: number
  readonly #owners: Int32Array
  readonly #expected = new Set<number>()
  #version: number

  /** `owners` are the owners of all partitions as of `version`. */
  constructor(self: number, owners: ArrayLike<number>, version = UNMOVED) {
    this.self = self
    this.#owners = Int32Array.from(owners)
    this.#version = version
  }

  /** Increases with every move. */
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

  /** Marks partitions as being on their way to this shard, or no longer. */
  expect(partitions: readonly number[], isComing: boolean): void {
    for (const partition of partitions) {
      if (isComing) this.#expected.add(partition)
      else this.#expected.delete(partition)
    }
  }

  move(partitions: readonly number[], to: number, version = 0): void {
    for (const partition of partitions) this.#owners[partition] = to
    // Increase it even if this version is already known, because callers that cache owners compare versions only.
    this.#version = Math.max(this.#version + 1, version)
  }

  /** A shard has restarted, so what others have cached about sending to it is void. */
  bumpVersion(): void {
    this.#version++
  }

  /** The owners of all partitions, to create another table from. */
  get owners(): readonly number[] {
    return [...this.#owners]
  }
}

/** The authoritative table, owned by the thread that moves partitions and not by a shard. */
export class OwnershipRegistry extends OwnershipTable implements OwnershipView {
  readonly shards: number

  constructor(partitions: number, shards: number) {
    super(NO_SHARD, assignInTurn(partitions, shards))
    this.shards = shards
  }
}

/** Assigns partitions to shards in turn: 0, 1, 2, …, 0, 1, 2, … */
export function assignInTurn(partitions: number, shards: number): number[] {
  return Array.from({ length: partitions }, (_, partition) => partition % shards)
}
