import type { StoreContext } from '../../contract.js'
import type { Database } from '../db/database.js'
import type { CommitCount } from '../db/folder.js'
import { Journal } from '../db/journal.js'
import { FIRST_LANE, metaKey } from '../format/keys.js'
import type { LaneEnd, LaneMeta, Meta } from '../format/meta.js'
import { FORMAT } from '../format/migrations.js'
import type { TimeScale } from '../format/time-scale.js'
import type { Settings } from '../settings.js'

/** What a thread begins with that writes to a store. */
export interface LaneStart {
  readonly lane: number
  /** Where the number of its commits is told. */
  readonly count: CommitCount
  /** How far the lane has come. */
  readonly end: LaneEnd
  readonly scale: TimeScale
  /** What the first lane writes of the store as a whole. */
  readonly whole?: Pick<Meta, 'identity' | 'lanes'>
}

/** What changes in the meta of a lane, besides its commits and the time. */
export type LaneState = Pick<LaneMeta, 'seq' | 'counts' | 'nextBatch'>

/** One thread that writes to a store: its commits, and the books that it keeps of them. */
export class Lane {
  readonly number: number
  readonly journal: Journal
  readonly #database: Database
  readonly #count: CommitCount

  /** `state` is asked at each commit, after all others who contribute to it. */
  constructor(
    { commitMs }: Settings,
    { clock, report }: StoreContext,
    database: Database,
    { lane, count, end, scale, whole }: LaneStart,
    state: () => LaneState,
  ) {
    this.number = lane
    this.#database = database
    this.#count = count
    this.journal = new Journal({
      database,
      lane,
      clock,
      commitMs,
      lastCommit: end.commit,
      committed: (commit) => count.tell(commit),
      report: (event) => report?.(event),
    })
    const { journal } = this
    const { marksFrom } = end
    const fixed =
      lane === FIRST_LANE ? { format: FORMAT, identity: whole!.identity, lanes: whole!.lanes } : {}
    journal.keepBooks(() => {
      const now: LaneMeta = { ...fixed, ...state(), ...scale.mark(), commit: journal.commit, marksFrom }
      journal.put(metaKey(lane), JSON.stringify(now))
    })
  }

  /** Writes what is left, and lets go of the database. */
  async close(): Promise<void> {
    try {
      await this.journal.close()
    } finally {
      await this.#database.close()
      this.#count.close()
    }
  }
}
