/** Opens the crawl in a folder: the database, after making sure that its contents can be trusted. */

import { counted, KumoError } from '../../../errors.js'
import type { StoreContext } from '../../contract.js'
import { examine, type Fault, inWords } from '../check/examine.js'
import { Database } from '../db/database.js'
import { damaged, explained } from '../db/errors.js'
import { CommitCount, hasLostItsList, holdsDatabase, isUnborn } from '../db/folder.js'
import { FIRST_WRITER, kindOf, MARKS } from '../format/keys.js'
import { assertOurs, type Meta, readMeta, wholeIdentity } from '../format/meta.js'
import type { TimeMark } from '../format/time-scale.js'
import type { Settings } from '../settings.js'
import { lostEnd, whatIsLeft } from './losses.js'
import { nonsenseIn } from './nonsense.js'
import { INTERRUPTED, isRebuilding, type Rebuilt, rebuild } from './rebuild.js'
import { mend } from './repair.js'
import { checkMarks, emptyStoreMeta, readStoreMeta, type StoreMeta, takeTogether } from './store-meta.js'

/** A crawl whose data can be trusted and that is not open elsewhere. */
export interface Crawl {
  readonly database: Database
  /** Its meta; blank for a new crawl. */
  readonly meta: StoreMeta
  /** Whether the last run, or one of its writers, did not close. */
  readonly wasCut: boolean
  /** The files that record the number of commits: of the first writer, and of all others that have one. */
  readonly count: CommitCount
  readonly otherCounts: readonly CommitCount[]
}

/** How many commits there must be, by writer. */
export type Report = ReadonlyMap<number, number>

export async function openCrawl(settings: Settings, context: StoreContext): Promise<Crawl> {
  const { path } = settings
  const counts = CommitCount.allIn(path)
  // Before a folder is created where one should have existed.
  if (settings.resume === 'must' && !holdsDatabase(path)) throw noCrawl(path)
  const identity = wholeIdentity(context.identity)
  const told = new Map([...counts].map(([writer, count]) => [writer, count.read()]))
  const { database, meta, wasMended } = await openWhole(settings, context, identity, told)
  try {
    checkResume(settings, meta)
    // The lost data may include visits.
    const wasCut = wasMended || (meta !== undefined && [...counts.values()].some((count) => count.wasCut))
    const count = counts.get(FIRST_WRITER)!
    counts.delete(FIRST_WRITER)
    return {
      database,
      meta: meta ?? emptyStoreMeta(identity),
      wasCut,
      count,
      otherCounts: [...counts.values()],
    }
  } catch (error) {
    await database.close().catch(() => {})
    throw error
  }
}

/**
 * Merges what all writers have left into one commit; from then on their own records are not needed. See `mergeWriters`.
 */
export async function gather(
  { database, meta, count, otherCounts }: Crawl,
  time: TimeMark,
  apart: boolean,
): Promise<StoreMeta> {
  const together = await takeTogether(database, meta, time, apart)
  count.tell(together.first.commit)
  for (const other of otherCounts) {
    try {
      other.remove()
    } catch {
      // The commits that it records exist.
    }
  }
  return together
}

interface Whole {
  readonly database: Database
  /** Undefined for a new crawl. */
  readonly meta: StoreMeta | undefined
  readonly wasMended: boolean
}

/** Opens a database whose data can be trusted. Damage is repaired if the options say so, and refused otherwise. */
async function openWhole(
  settings: Settings,
  { report }: StoreContext,
  identity: Record<string, string>,
  told: Report,
): Promise<Whole> {
  const { path, repair } = settings
  const { database, tail, rebuilt, ...opened } = await openDatabase(settings)
  try {
    // Before anything is removed that another version could read.
    await assertOurs(path, database, identity)
    const nonsense = repair ? await dropNonsense(path, database) : undefined
    const stored = await readMeta(path, database, identity)
    let problem: unknown = opened.problem ?? nonsense
    let meta: StoreMeta | undefined
    if (problem === undefined) {
      try {
        meta = await checkedMeta(path, database, stored, told)
      } catch (error) {
        if (!repair || !isDamaged(error)) throw error
        problem = error
      }
    }
    if (problem === undefined) {
      const lost = lostEnd(path, lostCommits(told, meta), tail)
      if (lost !== undefined) report?.({ kind: 'repaired', message: lost })
      return { database, meta, wasMended: false }
    }
    const before = await metaBefore(database, stored, told)
    const after = await mend(database, stored, identity, told)
    const files = (await rebuilt?.finish()) ?? []
    const message = whatIsLeft({ path, before, after, losses: rebuilt?.losses, files, aside: rebuilt?.aside })
    report?.({ kind: 'repaired', message, cause: problem })
    return { database, meta: after, wasMended: true }
  } catch (error) {
    await database.close()
    throw error
  }
}

function isDamaged(error: unknown): boolean {
  return error instanceof KumoError && error.code === 'KUMO_STORE_DAMAGED'
}

/** Undefined for a new crawl. */
async function checkedMeta(
  path: string,
  database: Database,
  stored: Meta | undefined,
  told: Report,
): Promise<StoreMeta | undefined> {
  if (stored === undefined) {
    if ([...told.values()].some((commits) => commits > 0))
      throw damaged(path, 'its database is empty or gone')
    return undefined
  }
  const meta = await readStoreMeta(database, stored)
  await checkMarks(path, database, meta)
  return meta
}

/** The meta from before the damage; undefined if the last commit is missing. */
async function metaBefore(
  database: Database,
  stored: Meta | undefined,
  told: Report,
): Promise<StoreMeta | undefined> {
  const meta = stored && (await readStoreMeta(database, stored))
  return lostCommits(told, meta) > 0 ? undefined : meta
}

/** Removes records that cannot be decoded. Returns the error that describes them. */
async function dropNonsense(path: string, database: Database): Promise<KumoError | undefined> {
  const keys = await nonsenseIn(database)
  if (keys.length === 0) return undefined
  // A commit mark is removed with them: if the repair is interrupted now, the gap will be detected.
  const marks = await database.read({ ...MARKS[0], limit: 1 })
  const gone = [...keys, ...marks.map(([key]) => key)]
  await database.write({ values: new Map(gone.map((key) => [key, null])), once: [] })
  const more = keys.length === 1 ? '' : `, and ${counted(keys.length - 1, 'more record')}`
  return damaged(path, `${kindOf(keys[0]!)} cannot be read${more}`)
}

function lostCommits(told: Report, meta: StoreMeta | undefined): number {
  let lost = 0
  for (const [writer, commits] of told) {
    const end = writer === FIRST_WRITER ? meta?.first : meta?.writers[writer]
    lost += Math.max(0, commits - (end?.commit ?? 0))
  }
  return lost
}

interface OpenedDatabase {
  readonly database: Database
  /** The last log ends with something unreadable. */
  readonly tail?: Fault | undefined
  /** What was wrong, if it had to be rebuilt. */
  readonly problem?: unknown
  readonly rebuilt?: Rebuilt
}

/** Opens a database whose files are intact, or one rebuilt from what could be read of them. */
async function openDatabase({ path, durability, repair, verify }: Settings): Promise<OpenedDatabase> {
  const sync = durability === 'machine'
  // What this process already has open was checked when it was opened, and its files are changing.
  const isOpen = await Database.isLeftOpen(path)
  // Files that another process is writing may look damaged, and reading them all takes time.
  if (!isOpen && holdsDatabase(path)) await Database.assertFree(path)
  let { problem, tail } = isOpen
    ? { problem: undefined, tail: undefined }
    : await lookAt(path, verify || repair)
  if (problem === undefined) {
    try {
      return { database: await Database.open(path, sync), tail }
    } catch (error) {
      if (!repair || !isDamaged(error)) throw error
      problem = error
    }
  }
  if (!repair) throw problem
  try {
    const rebuilt = await rebuild(path, sync)
    return { database: rebuilt.database, problem, rebuilt }
  } catch (error) {
    throw explained(path, error)
  }
}

/** Checks the files of a folder before LevelDB opens them. `tables`: also checks the contents of tables. */
async function lookAt(path: string, tables: boolean): Promise<{ problem: unknown; tail: Fault | undefined }> {
  try {
    if (await isRebuilding(path)) return { problem: damaged(path, INTERRUPTED), tail: undefined }
    if (isUnborn(path)) return { problem: undefined, tail: undefined }
    const { faults, tail } = await examine(path, tables)
    // LevelDB would create a new database here.
    const isGone = faults.length === 0 && hasLostItsList(path)
    const what = isGone ? 'the file CURRENT is gone' : faults.length > 0 ? inWords(faults) : undefined
    return { problem: what && damaged(path, what), tail }
  } catch (error) {
    throw explained(path, error)
  }
}

function checkResume({ path, resume }: Settings, meta: StoreMeta | undefined): void {
  if (resume === 'never' && meta !== undefined) {
    const message = `${path} holds a crawl already, and resume is 'never'; choose another folder, or remove this one`
    throw new KumoError('KUMO_STORE_RESUME', message)
  }
  if (resume === 'must' && meta === undefined) throw noCrawl(path)
}

function noCrawl(path: string): KumoError {
  const message = `${path} holds no crawl to go on with, and resume is 'must'; is the path right?`
  return new KumoError('KUMO_STORE_RESUME', message)
}
