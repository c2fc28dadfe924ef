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
}
