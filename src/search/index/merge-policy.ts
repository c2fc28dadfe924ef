/**
 * Which segments to merge. Segments of about the same size are merged when there are enough of them, so each document is
 * merged a number of times that grows with the logarithm of the index, and a search asks few segments.
 */

/** Segments of one size that are merged. */
const FAN_IN = 8
/** Smaller segments count as one size. */
const SMALLEST_BYTES = 2 ** 20
/** Larger ones are left alone until much of them is deleted, so that a merge takes a bounded time. */
const LARGEST_BYTES = 2 ** 31
/** A segment with this share of deleted records is written again. */
const MOST_DELETED = 0.3

export interface SegmentSize {
  readonly bytes: number
  readonly records: number
  readonly deletedRecords: number
}

/** The segments to merge, by their index; empty if there is nothing to do. */
export function chooseMerge(segments: readonly SegmentSize[]): readonly number[] {
  const tiers = new Map<number, number[]>()
  for (const [index, segment] of segments.entries()) {
    if (liveBytes(segment) > LARGEST_BYTES) continue
    const tier = tierOf(liveBytes(segment))
    const others = tiers.get(tier)
    if (others === undefined) tiers.set(tier, [index])
    else others.push(index)
  }
  for (const tier of [...tiers.keys()].sort((a, b) => a - b)) {
    const members = tiers.get(tier)!
    if (members.length >= FAN_IN) return members
  }
  const worn = segments.findIndex(
    ({ records, deletedRecords }) => deletedRecords > 0 && deletedRecords >= records * MOST_DELETED,
  )
  return worn < 0 ? [] : [worn]
}

function liveBytes({ bytes, records, deletedRecords }: SegmentSize): number {
  return records === 0 ? 0 : bytes * (1 - deletedRecords / records)
}

function tierOf(bytes: number): number {
  return bytes < SMALLEST_BYTES ? 0 : 1 + Math.floor(Math.log(bytes / SMALLEST_BYTES) / Math.log(FAN_IN))
}
