import { KumoError } from '../../../errors.js'
import { CANONICALIZER_VERSION } from '../../../url/canonicalize.js'
import type { Database } from '../db/database.js'
import { readCounts } from './counts.js'
import { META } from './keys.js'
import { FORMAT, migrate } from './migrations.js'
import type { TimeMark } from './time-scale.js'

/** How far a writer has got. */
export interface WriterEnd {
  /** Number of its last commit. */
  readonly commit: number
  /** The first commit that left a mark: 1, unless the store was repaired. */
  readonly marksFrom: number
  /** Greater than the number of any batch in its outbox. */
  readonly nextBatch: number
}

/** The meta of a writer, written with each of its commits. */
export interface WriterMeta extends WriterEnd, TimeMark {
  /** Number of the next request. */
  readonly seq: number
  /** What its partitions hold: see `Counts`. */
  readonly counts: string
}

/** The meta of the store: that of its first writer, and more. */
export interface Meta extends WriterMeta {
  readonly format: number
  /** Options that give the data its meaning, by name. */
  readonly identity: Readonly<Record<string, string>>
  /**
   * The other writers so far, by number, as they were when their partitions were last taken from them. The name is part
   * of the stored format.
   */
  readonly lanes: Readonly<Record<string, WriterEnd>>
}

/**
 * Adds to the identity of a crawl the version of `canonicalizeUrl`: URLs spelled differently would not be recognized.
 */
export function storeIdentity(given: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...given, 'the spelling of URLs (version of Kumo)': String(CANONICALIZER_VERSION) }
}

/** Decodes the meta of a writer, or of the store. */
export function readWriterMeta<T extends WriterMeta = WriterMeta>(record: string): T {
  const meta = JSON.parse(record) as T
  if (![meta.commit, meta.seq, meta.at].every(Number.isFinite)) throw new Error('not the counts of a crawl')
  readCounts(meta.counts ?? '')
  return meta
}

/** Throws if this version cannot read the crawl, or if it was started with other options. Ignores damaged metas. */
export async function assertReadable(
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
  checkReadable(path, JSON.parse(record) as Meta, identity)
}

function checkReadable(path: string, meta: Meta, identity: Readonly<Record<string, string>>): void {
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
  checkReadable(path, meta, identity)
  return meta.format < FORMAT ? ((await migrate(database, meta)) as Meta) : meta
}

function newer(path: string, format: number): KumoError {
  const message =
    `the crawl in ${path} was written by a newer version of Kumo (format ${format}; this version supports up to ${FORMAT}); ` +
    'update Kumo, or start again in another folder'
  return new KumoError('KUMO_STORE_MISMATCH', message)
}

function mismatch(path: string, option: string, then: string, now: string): KumoError {
  const message =
    `the crawl in ${path} was started with a different value of ${option}: ${then || 'none'} then, ${now || 'none'} now. ` +
    'Its data would change meaning: restore the former value, or start again in another folder'
  return new KumoError('KUMO_STORE_MISMATCH', message)
}
