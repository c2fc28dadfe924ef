/**
 * Host → partition, the same on every thread and machine and in every run (system A's static assignment).
 *
 * What must stay true: `partition(host)` is an integer in [0, partitions), a pure function of the host's name.
 * Which shard owns a partition is a different question, answered by `Ownership`.
 */
export interface HostPartitioner {
  /** Fixed for the life of a crawl. */
  readonly partitions: number
  partition(host: string): number
}

/** Which shard owns which partition. Versioned, because ownership moves while the partition of a host does not. */
export interface Ownership {
  readonly version: number
  /** The shard asking. */
  readonly self: number
  /** The shard that owns the partition. */
  ownerOf(partition: number): number
  /** Whether the partition is on its way to this shard: what arrives for it is held until it is here. */
  isExpected?(partition: number): boolean
}

/** Ownership as whoever moves partitions sees it: the truth, which shards learn of later. */
export interface OwnershipView {
  readonly version: number
  readonly shards: number
  ownerOf(partition: number): number
  ownedBy(shard: number): readonly number[]
  move(partitions: readonly number[], to: number, version: number): void
}
