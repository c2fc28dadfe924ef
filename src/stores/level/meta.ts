import { KumoError } from '../../errors.js'
import { type Database, damaged } from './database.js'
import { MARKS_KEPT } from './journal.js'
import { fromOrdered, META } from './keys.js'
import { FORMAT, migrate } from './migrations.js'
import type { TimeMark } from './time-scale.js'

/** What a store knows of itself; written with every commit. */
export interface Meta extends TimeMark {
  readonly format: number
  /** Options that give the data its meaning, by name. */
  readonly identity: Readonly<Record<string, string>>
  /** Requests pending, those included that were leased. */
  readonly pending: number
  /** Names known to the seen-set. */
  readonly known: number
  /** The number of the next request. */
  readonly seq: number
  readonly commit: number
  /** The first commit that has left a mark: 1, unless the store was mended. */
  readonly marksFrom: number
}

/**
 * Spellings of URLs as `url/canonicalise` makes them: to be raised when that changes, for URLs spelled otherwise would
 * not be recognised.
 */
const CANONICALISER = '1'

/** The identity of a crawl, with what is the store's own to know. */
export function wholeIdentity(given: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...given, 'the spelling of URLs (version of Kumo)': CANONICALISER }
}

/** Undefined for a folder without a crawl. Throws if the crawl in it cannot be opened with this identity. */
export async function readMeta(
  path: string,
  database: Database,
  identity: Readonly<Record<string, string>>,
): Promise<Meta | undefined> {
  const record = await database.get(META)
  if (record === undefined) return undefined
  const meta = JSON.parse(record) as Meta
  if (meta.format > FORMAT) throw newer(path, meta.format)
  for (const [option, now] of Object.entries(identity)) {
    const then = meta.identity[option]
    if (then !== undefined && then !== now) throw mismatch(path, option, then, now)
  }
  return meta.format < FORMAT ? await migrate(database, meta) : meta
}

/** Every commit leaves a mark, so that one that is missing is noticed: LevelDB passes over what it cannot read. */
export async function checkMarks(
  path: string,
  database: Database,
  { commit, marksFrom }: Meta,
): Promise<void> {
  let last = Math.max(marksFrom, commit - MARKS_KEPT + 1) - 1
  for await (const keys of database.scanKeys({ from: 'j', to: 'k' })) {
    for (const key of keys) {
      const mark = fromOrdered(key.slice(1))
      if (mark !== last + 1) throw hole(path, last + 1, mark - 1)
      last = mark
    }
  }
  if (last !== commit) throw hole(path, last + 1, commit)
}

function hole(path: string, from: number, to: number): KumoError {
  const commits = from === to ? `commit ${from}` : `commits ${from} to ${to}`
  return damaged(path, `${commits} cannot be read, so that URLs may be missing`)
}

function newer(path: string, format: number): KumoError {
  const message =
    `the crawl in ${path} was written by a newer version of Kumo (format ${format}, this one knows ${FORMAT}); ` +
    'update Kumo, or begin anew in another folder'
  return new KumoError('KUMO_STORE_MISMATCH', message)
}

function mismatch(path: string, option: string, then: string, now: string): KumoError {
  const message =
    `the crawl in ${path} was begun with another value of ${option}: ${then || 'none'} then, ${now || 'none'} now. ` +
    'Its data would mean something else: go back to the former value, or begin anew in another folder'
  return new KumoError('KUMO_STORE_MISMATCH', message)
}
