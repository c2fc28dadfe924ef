/** How a crawl in a folder is opened: the database, and the assurance that what is in it can be trusted. */

import { counted, KumoError } from '../../errors.js'
import type { StoreContext } from '../contract.js'
import { type Books, blankBooks, checkMarks, readBooks, takeTogether } from './books.js'
import { Database } from './database.js'
import { damaged } from './database-errors.js'
import { CommitCount, hasLostItsList, holdsDatabase } from './folder.js'
import { FIRST_LANE } from './keys.js'
import { readMeta, wholeIdentity } from './meta.js'
import { mend } from './repair.js'
import type { Settings } from './settings.js'
import type { TimeMark } from './time-scale.js'

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
  const { database, books } = await openWhole(settings, context, identity, told)
  try {
    checkResume(settings, books)
    const wasCut = books !== undefined && [...counts.values()].some((count) => count.wasCut)
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

/** A database whose data can be trusted. */
async function openWhole(
  settings: Settings,
  context: StoreContext,
  identity: Record<string, string>,
  told: Told,
): Promise<{ database: Database; books: Books | undefined }> {
  let { database, cause } = await openDatabase(settings)
  try {
    return { database, books: await wholeBooks(settings, context, database, identity, told, cause) }
  } catch (error) {
    await database.close()
    if (!settings.repair || !isDamaged(error) || cause !== undefined) throw error
    // It opens, but not all of it can be read.
    await Database.repair(settings.path)
    database = await Database.open(settings.path, settings.durability === 'machine')
    cause = error
  }
  try {
    return { database, books: await wholeBooks(settings, context, database, identity, told, cause) }
  } catch (error) {
    await database.close()
    throw error
  }
}

function isDamaged(error: unknown): boolean {
  return error instanceof KumoError && error.code === 'KUMO_STORE_DAMAGED'
}

/** Undefined for a new crawl. What is damaged is mended if that is wanted, and refused if not. */
async function wholeBooks(
  { path, repair }: Settings,
  { report }: StoreContext,
  database: Database,
  identity: Record<string, string>,
  told: Told,
  cause: unknown,
): Promise<Books | undefined> {
  const meta = await readMeta(path, database, identity)
  let books: Books | undefined
  try {
    if (cause !== undefined) throw cause
    if (meta !== undefined) books = await readBooks(database, meta)
    else if ([...told.values()].some((commits) => commits > 0))
      throw damaged(path, 'its database is empty or gone')
    if (books !== undefined) await checkMarks(path, database, books)
  } catch (error) {
    if (!repair) throw error
    const mended = await mend(database, meta, identity, told)
    const left = mended === undefined ? 'nothing' : whatIsIn(mended)
    const message = `the crawl in ${path} was damaged; what could be read of it: ${left}`
    report?.({ kind: 'repaired', message, cause: error })
    return mended
  }
  const lost = lostCommits(told, books)
  if (lost > 0) {
    const message =
      `the last ${counted(lost, 'commit')} of the crawl in ${path} ${lost === 1 ? 'is' : 'are'} gone, as after a power failure; ` +
      'it goes on from what was before, and fetches again what came after'
    report?.({ kind: 'repaired', message })
  }
  return books
}

function whatIsIn({ counts }: Books): string {
  const known = counts.reduce((sum, count) => sum + count.known, 0)
  const pending = counts.reduce((sum, count) => sum + count.pending, 0)
  return `${known} known URLs, ${pending} of them pending`
}

function lostCommits(told: Told, books: Books | undefined): number {
  let lost = 0
  for (const [lane, commits] of told) {
    const end = lane === FIRST_LANE ? books?.first : books?.lanes[lane]
    lost += Math.max(0, commits - (end?.commit ?? 0))
  }
  return lost
}

/** `cause` is what was the matter, if the database had to be repaired first. */
async function openDatabase({
  path,
  durability,
  repair,
}: Settings): Promise<{ database: Database; cause?: unknown }> {
  const sync = durability === 'machine'
  try {
    // LevelDB would begin a new database here, and remove what is left of the old one.
    if (hasLostItsList(path)) throw damaged(path, 'the file CURRENT is gone')
    return { database: await Database.open(path, sync) }
  } catch (cause) {
    if (!repair || !isDamaged(cause)) throw cause
    await Database.repair(path)
    return { database: await Database.open(path, sync), cause }
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
