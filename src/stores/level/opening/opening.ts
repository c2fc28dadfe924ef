/** How a crawl in a folder is opened: the database, and the assurance that what is in it can be trusted. */

import { counted, KumoError } from '../../../errors.js'
import type { StoreContext } from '../../contract.js'
import { examine, type Fault, inWords } from '../check/examine.js'
import { Database } from '../db/database.js'
import { damaged, explained } from '../db/errors.js'
import { CommitCount, hasLostItsList, holdsDatabase, isUnborn } from '../db/folder.js'
import { FIRST_LANE, kindOf, MARKS } from '../format/keys.js'
import { assertOurs, type Meta, readMeta, wholeIdentity } from '../format/meta.js'
import type { TimeMark } from '../format/time-scale.js'
import type { Settings } from '../settings.js'
import { lostEnd, whatIsLeft } from './losses.js'
import { nonsenseIn } from './nonsense.js'
import { INTERRUPTED, isRebuilding, type Rebuilt, rebuild } from './rebuild.js'
import { mend } from './repair.js'
import { type Books, blankBooks, checkMarks, readBooks, takeTogether } from './store-meta.js'

/** A crawl whose data can be trusted. Nobody else has it open. */
export interface Crawl {
  readonly database: Database
  /** How it stands; blank for a new one. */
  readonly books: Books
  /** Whether whoever had it open last did not close it, or not all of it. */
  readonly wasCut: boolean
  /** The files that say how many commits there are: of the first lane, and of others that have one. */
  readonly count: CommitCount
  readonly otherCounts: readonly CommitCount[]
}

/** How many commits there must be, by lane. */
export type Told = ReadonlyMap<number, number>

export async function openCrawl(settings: Settings, context: StoreContext): Promise<Crawl> {
  const { path } = settings
  const counts = CommitCount.allIn(path)
  // Before a folder is made where there should have been one.
  if (settings.resume === 'must' && !holdsDatabase(path)) throw noCrawl(path)
  const identity = wholeIdentity(context.identity)
  const told = new Map([...counts].map(([lane, count]) => [lane, count.read()]))
  const { database, books, wasMended } = await openWhole(settings, context, identity, told)
  try {
    checkResume(settings, books)
    // What is lost may have been visits.
    const wasCut = wasMended || (books !== undefined && [...counts.values()].some((count) => count.wasCut))
    const count = counts.get(FIRST_LANE)!
    counts.delete(FIRST_LANE)
    return {
      database,
      books: books ?? blankBooks(identity),
      wasCut,
      count,
      otherCounts: [...counts.values()],
    }
  } catch (error) {
    await database.close().catch(() => {})
    throw error
  }
}

/** Makes one commit of what all lanes have left; from then on nothing of theirs is needed. See `takeTogether`. */
export async function gather(
  { database, books, count, otherCounts }: Crawl,
  time: TimeMark,
  apart: boolean,
): Promise<Books> {
  const together = await takeTogether(database, books, time, apart)
  count.tell(together.first.commit)
  for (const other of otherCounts) {
    try {
      other.remove()
    } catch {
      // It tells of commits that are there.
    }
  }
  return together
}

interface Whole {
  readonly database: Database
  /** Undefined for a new crawl. */
  readonly books: Books | undefined
  readonly wasMended: boolean
}

/** A database whose data can be trusted. What is damaged is mended if that is wanted, and refused if not. */
async function openWhole(
  settings: Settings,
  { report }: StoreContext,
  identity: Record<string, string>,
  told: Told,
): Promise<Whole> {
  const { path, repair } = settings
  const { database, tail, rebuilt, ...opened } = await openDatabase(settings)
  try {
    // Before anything is removed that another version would understand.
    await assertOurs(path, database, identity)
    const nonsense = repair ? await dropNonsense(path, database) : undefined
    const meta = await readMeta(path, database, identity)
    let problem: unknown = opened.problem ?? nonsense
    let books: Books | undefined
    if (problem === undefined) {
      try {
        books = await checkedBooks(path, database, meta, told)
      } catch (error) {
        if (!repair || !isDamaged(error)) throw error
        problem = error
      }
    }
    if (problem === undefined) {
      const lost = lostEnd(path, lostCommits(told, books), tail)
      if (lost !== undefined) report?.({ kind: 'repaired', message: lost })
      return { database, books, wasMended: false }
    }
    const before = await booksBefore(database, meta, told)
    const after = await mend(database, meta, identity, told)
    const files = (await rebuilt?.finish()) ?? []
    const message = whatIsLeft({ path, before, after, losses: rebuilt?.losses, files, aside: rebuilt?.aside })
    report?.({ kind: 'repaired', message, cause: problem })
    return { database, books: after, wasMended: true }
  } catch (error) {
    await database.close()
    throw error
  }
}

function isDamaged(error: unknown): boolean {
  return error instanceof KumoError && error.code === 'KUMO_STORE_DAMAGED'
}

/** Undefined for a new crawl. */
async function checkedBooks(
  path: string,
  database: Database,
  meta: Meta | undefined,
  told: Told,
): Promise<Books | undefined> {
  if (meta === undefined) {
    if ([...told.values()].some((commits) => commits > 0))
      throw damaged(path, 'its database is empty or gone')
    return undefined
  }
  const books = await readBooks(database, meta)
  await checkMarks(path, database, books)
  return books
}

/** What there was before it was damaged, if that can be told: the last commit must be there. */
async function booksBefore(
  database: Database,
  meta: Meta | undefined,
  told: Told,
): Promise<Books | undefined> {
  const books = meta && (await readBooks(database, meta))
  return lostCommits(told, books) > 0 ? undefined : books
}

/** Removes records that make no sense. Answers with the error that they are. */
async function dropNonsense(path: string, database: Database): Promise<KumoError | undefined> {
  const keys = await nonsenseIn(database)
  if (keys.length === 0) return undefined
  // With a mark of the commits: a repair that is interrupted now leaves a hole that is found.
  const marks = await database.read({ ...MARKS[0], limit: 1 })
  const gone = [...keys, ...marks.map(([key]) => key)]
  await database.write({ values: new Map(gone.map((key) => [key, null])), once: [] })
  const more = keys.length === 1 ? '' : `, and ${counted(keys.length - 1, 'more record')}`
  return damaged(path, `${kindOf(keys[0]!)} cannot be read${more}`)
}

function lostCommits(told: Told, books: Books | undefined): number {
  let lost = 0
  for (const [lane, commits] of told) {
    const end = lane === FIRST_LANE ? books?.first : books?.lanes[lane]
    lost += Math.max(0, commits - (end?.commit ?? 0))
  }
  return lost
}

interface OpenedDatabase {
  readonly database: Database
  /** The last log ends with something that cannot be read. */
  readonly tail?: Fault | undefined
  /** What was the matter, if it had to be rebuilt. */
  readonly problem?: unknown
  readonly rebuilt?: Rebuilt
}

/** Opens a database whose files are whole, or one that was made of what could be read of them. */
async function openDatabase({ path, durability, repair, verify }: Settings): Promise<OpenedDatabase> {
  const sync = durability === 'machine'
  // What this process has open already was looked at when it was opened, and its files change.
  const isOpen = await Database.isLeftOpen(path)
  // Files that another process is writing may look damaged, and it takes time to read them all.
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

/** Looks at the files of a folder before LevelDB does. `tables`: also at what is in the tables. */
async function lookAt(path: string, tables: boolean): Promise<{ problem: unknown; tail: Fault | undefined }> {
  try {
    if (await isRebuilding(path)) return { problem: damaged(path, INTERRUPTED), tail: undefined }
    if (isUnborn(path)) return { problem: undefined, tail: undefined }
    const { faults, tail } = await examine(path, tables)
    // LevelDB would begin a new database here.
    const isGone = faults.length === 0 && hasLostItsList(path)
    const what = isGone ? 'the file CURRENT is gone' : faults.length > 0 ? inWords(faults) : undefined
    return { problem: what && damaged(path, what), tail }
  } catch (error) {
    throw explained(path, error)
  }
}

function checkResume({ path, resume }: Settings, books: Books | undefined): void {
  if (resume === 'never' && books !== undefined) {
    const message = `${path} holds a crawl already, and resume is 'never'; choose another folder, or remove this one`
    throw new KumoError('KUMO_STORE_RESUME', message)
  }
  if (resume === 'must' && books === undefined) throw noCrawl(path)
}

function noCrawl(path: string): KumoError {
  const message = `${path} holds no crawl to go on with, and resume is 'must'; is the path right?`
  return new KumoError('KUMO_STORE_RESUME', message)
}
