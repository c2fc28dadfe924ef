import type { StoreContext } from '../../contract.js'
import type { Database } from '../db/database.js'
import type { CommitCount } from '../db/folder.js'
import { Journal } from '../db/journal.js'
import { FIRST_WRITER, metaKey } from '../format/keys.js'
import type { WriterEnd, WriterMeta } from '../format/meta.js'
import { FORMAT } from '../format/migrations.js'
import type { TimeScale } from '../format/time-scale.js'
import type { StoreMeta } from '../opening/store-meta.js'
import type { Settings } from '../settings.js'

/** What a writer starts with. */
export interface WriterStart {
  readonly writer: number
  /** Where the number of its commits is recorded. */
  readonly count: CommitCount
  /** How far the writer has got. */
  readonly end: WriterEnd
  readonly scale: TimeScale
  /** What only the first writer stores: data about the store as a whole. */
  readonly store?: Pick<StoreMeta, 'identity' | 'writers'>
}

/** The parts of a writer's meta that change, besides commits and time. */
export type WriterState = Pick<WriterMeta, 'seq' | 'counts' | 'nextBatch'>

/** One thread that writes to a store: its commits, and the meta that goes with them. */
export class Writer {
  readonly number: number
  readonly journal: Journal
  readonly #database: Database
  readonly #count: CommitCount

  /** `state` is called at each commit, after everything else has contributed. */
  constructor(
    { commitMs }: Settings,
    { clock, report }: StoreContext,
    database: Database,
    { writer, count, end, scale, store }: WriterStart,
    state: () => WriterState,
  ) {
    this.number = writer
    this.#database = database
    this.#count = count
    this.journal = new Journal({
      database,
      writer,
      clock,
      commitMs,
      lastCommit: end.commit,
      committed: (commit) => count.tryWrite(commit),
      report: (event) => report?.(event),
    })
    const { journal } = this
    const { marksFrom } = end
    const fixed =
      writer === FIRST_WRITER ? { format: FORMAT, identity: store!.identity, lanes: store!.writers } : {}
    journal.setMetaWriter(() => {
      const now: WriterMeta = { ...fixed, ...state(), ...scale.mark(), commit: journal.commit, marksFrom }
      journal.put(metaKey(writer), JSON.stringify(now))
    })
  }

  /** Writes what is left, and closes the database. */
  async close(): Promise<void> {
    try {
      await this.journal.close()
    } finally {
      await this.#database.close()
      this.#count.close()
    }
  }
}
