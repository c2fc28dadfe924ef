/** Opens the crawl in a folder: the database, after making sure that its contents can be trusted. */

import { KumoError, pluralize } from '../../../errors.js'
import type { StoreContext } from '../../contract.js'
import { examine, type Fault, inWords } from '../check/examine.js'
import { Database } from '../db/database.js'
import { damaged, toStoreError } from '../db/errors.js'
import { CommitCount, closeToOthers, holdsDatabase, isUncreated, lacksCurrent } from '../db/folder.js'
import { FIRST_WRITER, kindOf, MARKS } from '../format/keys.js'
import { assertReadable, type Meta, readMeta, storeIdentity } from '../format/meta.js'
import type { TimeMark } from '../format/time-scale.js'
import type { Settings } from '../settings.js'
import { lostEndMessage, repairMessage } from './losses.js'
import { INTERRUPTED, isRebuilding, type Rebuilt, rebuild } from './rebuild.js'
import { repairCrawl } from './repair.js'
import { checkMarks, emptyStoreMeta, readStoreMeta, type StoreMeta, writeMerged } from './store-meta.js'
import { unreadableKeys } from './unreadable.js'

/** A crawl whose data can be trusted and that is not open elsewhere. */
export interface Crawl {
  readonly database: Database
  /** Its meta; blank for a new crawl. */
  readonly meta: StoreMeta
  /** Whether the last run, or one of its writers, did not close. */
  readonly crashed: boolean
  /** The files that record the number of commits: of the first writer, and of all others that have one. */
  readonly count: CommitCount
  readonly otherCounts: readonly CommitCount[]
}

/** How many commits there must be, by writer. */
export type ExpectedCommits = ReadonlyMap<number, number>

export async function openCrawl(settings: Settings, context: StoreContext): Promise<Crawl> {
  const { path } = settings
  const counts = CommitCount.allIn(path)
  // Before a folder is created where one should have existed.
  if (settings.resume === 'must' && !holdsDatabase(path)) throw nothingToResume(path)
  const identity = storeIdentity(context.identity)
  const expected = new Map([...counts].map(([writer, count]) => [writer, count.read()]))
  const { database, meta, wasRepaired } = await openChecked(settings, context, identity, expected)
  try {
    if (context.isPrivate) closeToOthers(path)
    checkResume(settings, meta)
    // The lost data may include visits.
    const crashed = wasRepaired || [...counts.values()].some((count) => count.crashed)
    const count = counts.get(FIRST_WRITER)!
    counts.delete(FIRST_WRITER)
    return {
      database,
      meta: meta ?? emptyStoreMeta(identity),
      crashed,
      count,
      otherCounts: [...counts.values()],
    }
  } catch (error) {
    await database.close().catch(() => {})
    throw error
  }
}

/**
 * Merges what all writers have left into one commit; from then on their own records are not needed. See `writeMerged`.
 */
export async function mergeWriters(
  { database, meta, count, otherCounts }: Crawl,
  time: TimeMark,
  apart: boolean,
): Promise<StoreMeta> {
  const together = await writeMerged(database, meta, time, apart)
  count.tryWrite(together.first.commit)
  for (const other of otherCounts) {
    try {
      other.remove()
    } catch {
      // The commits that it records exist.
    }
  }
  return together
}

interface Checked {
  readonly database: Database
  /** Undefined for a new crawl. */
  readonly meta: StoreMeta | undefined
  readonly wasRepaired: boolean
}

/** Opens a database whose data can be trusted. Damage is repaired if the options say so, and refused otherwise. */
async function openChecked(
  settings: Settings,
  { report }: StoreContext,
  identity: Record<string, string>,
  expected: ExpectedCommits,
): Promise<Checked> {
  const { path, repair } = settings
  const { database, tail, rebuilt, ...opened } = await openDatabase(settings)
  try {
    // Before anything is removed that another version could read.
    await assertReadable(path, database, identity)
    const unreadable = repair ? await dropUnreadable(path, database) : undefined
    const stored = await readMeta(path, database, identity)
    let problem: unknown = opened.problem ?? unreadable
    let meta: StoreMeta | undefined
    if (problem === undefined) {
      try {
        meta = await checkedMeta(path, database, stored, expected)
      } catch (error) {
        if (!repair || !isDamaged(error)) throw error
        problem = error
      }
    }
    if (problem === undefined) {
      const lost = lostEndMessage(path, lostCommits(expected, meta), tail)
      if (lost !== undefined) report?.({ kind: 'repaired', message: lost })
      return { database, meta, wasRepaired: false }
    }
    const before = await metaBefore(database, stored, expected)
    const after = await repairCrawl(database, stored, identity, expected)
    const files = (await rebuilt?.finish()) ?? []
    const message = repairMessage({
      path,
      before,
      after,
      losses: rebuilt?.losses,
      files,
      aside: rebuilt?.aside,
    })
    report?.({ kind: 'repaired', message, cause: problem })
    return { database, meta: after, wasRepaired: true }
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
  expected: ExpectedCommits,
): Promise<StoreMeta | undefined> {
  if (stored === undefined) {
    if ([...expected.values()].some((commits) => commits > 0))
      throw damaged(path, 'its database is empty or missing')
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
  expected: ExpectedCommits,
): Promise<StoreMeta | undefined> {
  const meta = stored && (await readStoreMeta(database, stored))
  return lostCommits(expected, meta) > 0 ? undefined : meta
}

/** Removes records that cannot be decoded. Returns the error that describes them. */
async function dropUnreadable(path: string, database: Database): Promise<KumoError | undefined> {
  const keys = await unreadableKeys(database)
  if (keys.length === 0) return undefined
  // A commit mark is removed with them: if the repair is interrupted now, the gap will be detected.
  const marks = await database.read({ ...MARKS[0], limit: 1 })
  const gone = [...keys, ...marks.map(([key]) => key)]
  await database.write({ values: new Map(gone.map((key) => [key, null])), once: [] })
  const more = keys.length === 1 ? '' : `, and ${pluralize(keys.length - 1, 'more record')}`
  return damaged(path, `${kindOf(keys[0]!)} is unreadable${more}`)
}

function lostCommits(expected: ExpectedCommits, meta: StoreMeta | undefined): number {
  let lost = 0
  for (const [writer, commits] of expected) {
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
    : await checkFiles(path, verify || repair)
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
    throw toStoreError(path, error)
  }
}

/** Checks the files of a folder before LevelDB opens them. `tables`: also checks the contents of tables. */
async function checkFiles(
  path: string,
  tables: boolean,
): Promise<{ problem: unknown; tail: Fault | undefined }> {
  try {
    if (await isRebuilding(path)) return { problem: damaged(path, INTERRUPTED), tail: undefined }
    if (isUncreated(path)) return { problem: undefined, tail: undefined }
    const { faults, tail } = await examine(path, tables)
    // LevelDB would create a new database here.
    const isGone = faults.length === 0 && lacksCurrent(path)
    const what = isGone ? 'the file CURRENT is missing' : faults.length > 0 ? inWords(faults) : undefined
    return { problem: what && damaged(path, what), tail }
  } catch (error) {
    throw toStoreError(path, error)
  }
}

function checkResume({ path, resume }: Settings, meta: StoreMeta | undefined): void {
  if (resume === 'never' && meta !== undefined) {
    const message = `${path} already holds a crawl, and resume is 'never'; choose another folder, or delete this one`
    throw new KumoError('KUMO_STORE_RESUME', message)
  }
  if (resume === 'must' && meta === undefined) throw nothingToResume(path)
}

function nothingToResume(path: string): KumoError {
  const message = `${path} holds no crawl to resume, and resume is 'must'; check the path`
  return new KumoError('KUMO_STORE_RESUME', message)
}
