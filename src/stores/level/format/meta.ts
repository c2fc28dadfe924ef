import { KumoError } from '../../../errors.js'
import { CANONICALIZER_VERSION } from '../../../url/canonicalize.js'
import type { Database } from '../db/database.js'
import { readCounts } from './counts.js'
import { META } from './keys.js'
import { FORMAT, migrate } from './migrations.js'
import type { TimeMark } from './time-scale.js'

/** How far a writer has come. */
export interface WriterEnd {
  /** The number of its last commit. */
  readonly commit: number
  /** The first commit that has left a mark: 1, unless the store was mended. */
  readonly marksFrom: number
  /** Larger than the number of any batch in its outbox. */
  readonly nextBatch: number
}

/** What a writer knows of itself; written with every commit of it. */
export interface WriterMeta extends WriterEnd, TimeMark {
  /** The number of the next request. */
  readonly seq: number
  /** What its partitions hold: see `Counts`. */
  readonly counts: string
}

/** What a store knows of itself: the meta of its first writer. */
export interface Meta extends WriterMeta {
  readonly format: number
  /** Options that give the data its meaning, by name. */
  readonly identity: Readonly<Record<string, string>>
  /** The other writers that there have been, by number (stored under an older name), as they were when their partitions were last taken from them. */
  readonly lanes: Readonly<Record<string, WriterEnd>>
}

/**
 * Spellings of URLs as `url/canonicalizeUrl` makes them: to be raised when that changes, for URLs spelled otherwise would
 * not be recognised.
 */
const CANONICALISER = String(CANONICALIZER_VERSION)

/** The identity of a crawl, with what is the store's own to know. */
export function wholeIdentity(given: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...given, 'the spelling of URLs (version of Kumo)': CANONICALISER }
}

/** What a writer has written of itself, or the first has of the store. */
export function readWriterMeta<T extends WriterMeta = WriterMeta>(record: string): T {
  const meta = JSON.parse(record) as T
  if (![meta.commit, meta.seq, meta.at].every(Number.isFinite)) throw new Error('not the counts of a crawl')
  readCounts(meta.counts ?? '')
  return meta
}

/** Throws if the crawl is not this version's to read, or was begun otherwise. Counts that are damaged are passed over. */
export async function assertOurs(
  path: string,
  database: Database,
  identity: Readonly<Record<string, string>>,
): Promise<void> {
  const record = await database.get(META)
  if (record === undefined) return
  try {
    readWriterMeta(record)
  } catch {
    return
  }
  checkOurs(path, JSON.parse(record) as Meta, identity)
}

function checkOurs(path: string, meta: Meta, identity: Readonly<Record<string, string>>): void {
  if (meta.format > FORMAT) throw newer(path, meta.format)
  for (const [option, now] of Object.entries(identity)) {
    const then = meta.identity[option]
    if (then !== undefined && then !== now) throw mismatch(path, option, then, now)
  }
}

/** Undefined for a folder without a crawl. Throws if the crawl in it cannot be opened with this identity. */
export async function readMeta(
  path: string,
  database: Database,
  identity: Readonly<Record<string, string>>,
): Promise<Meta | undefined> {
  const record = await database.get(META)
  if (record === undefined) return undefined
  const meta = database.decode(META, readWriterMeta<Meta>, record)
  checkOurs(path, meta, identity)
  return meta.format < FORMAT ? ((await migrate(database, meta)) as Meta) : meta
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
