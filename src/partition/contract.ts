/**
 * Maps a host to its partition, the same on every thread and machine and in every run (the static assignment of Noto & Takeno 2000).
 *
 * Invariant: `partition(host)` is an integer in [0, partitions) and a pure function of the host name. Which shard owns
 * a partition is a different question, answered by `Ownership`.
 */
export interface HostPartitioner {
  /** Fixed for the lifetime of a crawl. */
  readonly partitions: number
  partition(host: string): number
}

/**
 * Which shard owns which partition. It has a version, because ownership moves while the partition of a host does not.
 */
export interface Ownership {
  readonly version: number
  /** The shard that asks. */
  readonly self: number
  /** The shard that owns the partition. */
  ownerOf(partition: number): number
  /** Whether the partition is on its way to this shard: requests that arrive for it are held until it is here. */
  isExpected?(partition: number): boolean
}

/** Ownership as seen by the thread that moves partitions. It is authoritative; shards learn about moves later. */
export interface OwnershipView {
  readonly version: number
  readonly shards: number
  ownerOf(partition: number): number
  ownedBy(shard: number): readonly number[]
  move(partitions: readonly number[], to: number, version: number): void
}
