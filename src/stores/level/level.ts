import { resolve } from 'node:path'
import { KumoError } from '../../errors.js'
import { type Duration, parseDuration } from '../../time.js'
import type { OpenStore, Store, StoreContext } from '../contract.js'
import { Database, damaged } from './database.js'
import { CommitCount, hasLostItsList, holdsDatabase } from './folder.js'
import { LevelFrontier } from './frontier.js'
import { Journal } from './journal.js'
import { META } from './keys.js'
import { checkMarks, type Meta, readMeta, wholeIdentity } from './meta.js'
import { FORMAT } from './migrations.js'
import { mend } from './repair.js'
import { LevelSeen } from './seen.js'
import { levelState } from './state.js'
import { TimeScale } from './time-scale.js'

/** How a crawl on disk is kept. */
export interface LevelOptions {
  /**
   * What a commit survives. `process`: the end of the process, however sudden. `machine`: the end of the machine too;
   * each commit waits for the disk. Default `process`.
   */
  durability?: 'process' | 'machine'
  /** How much work a crash may undo at most. Default `'100ms'`. */
  commitEvery?: Duration
  /**
   * What to do with a crawl that is in the folder already. `auto`: go on with it. `never`: refuse the folder. `must`:
   * refuse a folder without one. Default `auto`.
   */
  resume?: 'auto' | 'never' | 'must'
  /** Hosts with requests that are held in memory; others wait on disk. Default 10,000: some 10 MB. */
  hostsInMemory?: number
  /** Requests of those hosts that are held in memory: a head of each host's. Default 50,000: some 25 MB. */
  requestsInMemory?: number
  /**
   * Fingerprints of known URLs in memory, some ten bytes each; beyond that those known longest are on disk, and take
   * ten bits. Default 24,000,000.
   */
  seenInMemory?: number
  /** Go on with what can be read of a damaged crawl. Default false: refuse it. */
  repair?: boolean
}

const DEFAULT_COMMIT_MS = 100
const DEFAULT_HOSTS_IN_MEMORY = 10_000
const DEFAULT_REQUESTS_IN_MEMORY = 50_000
const DEFAULT_SEEN_IN_MEMORY = 24_000_000

/**
 * A store in a folder. A crawl that was killed goes on where it was, when the same program runs again; pending URLs live
 * on disk, so that memory stays small however large the crawl.
 *
 * @example
 * await new Crawler().seeds('https://example.com/').store(level('./crawl')).run()
 */
export function level(path: string, options: LevelOptions = {}): Store {
  const settings = check(path, options)
  return { name: 'level', open: (context) => open(settings, context) }
}

type Settings = Required<Omit<LevelOptions, 'commitEvery'>> & {
  readonly path: string
  readonly commitMs: number
}

async function open(settings: Settings, context: StoreContext): Promise<OpenStore> {
  const { path } = settings
  const count = new CommitCount(path)
  // Before a folder is made where there should have been one.
  if (settings.resume === 'must' && !holdsDatabase(path)) throw noCrawl(path)
  const identity = wholeIdentity(context.identity)
  const { database, meta } = await openWhole(settings, context, identity, count.read())
  try {
    checkResume(settings, meta)
    return await assemble(settings, context, database, count, meta, identity)
  } catch (error) {
    await database.close().catch(() => {})
    throw error
  }
}

/** A database whose data can be trusted. */
async function openWhole(
  settings: Settings,
  context: StoreContext,
  identity: Record<string, string>,
  told: number,
): Promise<{ database: Database; meta: Meta | undefined }> {
  let { database, cause } = await openDatabase(settings)
  try {
    return { database, meta: await wholeMeta(settings, context, database, identity, told, cause) }
  } catch (error) {
    await database.close()
    if (!settings.repair || !isDamaged(error) || cause !== undefined) throw error
    // It opens, but not all of it can be read.
    await Database.repair(settings.path)
    database = await Database.open(settings.path, settings.durability === 'machine')
    cause = error
  }
  try {
    return { database, meta: await wholeMeta(settings, context, database, identity, told, cause) }
  } catch (error) {
    await database.close()
    throw error
  }
}

function isDamaged(error: unknown): boolean {
  return error instanceof KumoError && error.code === 'KUMO_STORE_DAMAGED'
}

/** Undefined for a new crawl. What is damaged is mended if that is wanted, and refused if not. */
async function wholeMeta(
  { path, repair }: Settings,
  { report }: StoreContext,
  database: Database,
  identity: Record<string, string>,
  told: number,
  cause: unknown,
): Promise<Meta | undefined> {
  const meta = await readMeta(path, database, identity)
  try {
    if (cause !== undefined) throw cause
    if (meta === undefined && told > 0) throw damaged(path, 'its database is empty or gone')
    if (meta !== undefined) await checkMarks(path, database, meta)
  } catch (error) {
    if (!repair) throw error
    const mended = await mend(database, meta, identity, told)
    const left =
      mended === undefined ? 'nothing' : `${mended.known} known URLs, ${mended.pending} of them pending`
    const message = `the crawl in ${path} was damaged; what could be read of it: ${left}`
    report?.({ kind: 'repaired', message, cause: error })
    return mended
  }
  const lost = told - (meta?.commit ?? 0)
  if (lost > 0) {
    const message =
      `the last ${lost} commits of the crawl in ${path} are gone, as after a power failure; ` +
      'it goes on from what was before them, and fetches again what came after'
    report?.({ kind: 'repaired', message })
  }
  return meta
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

async function assemble(
  { commitMs, hostsInMemory, requestsInMemory, seenInMemory }: Settings,
  context: StoreContext,
  database: Database,
  count: CommitCount,
  meta: Meta | undefined,
  identity: Record<string, string>,
): Promise<OpenStore> {
  const { clock, politeness, policy, partitions } = context
  const partitionOf = context.partitionOf?.bind(context) ?? (() => 0)
  const scale = new TimeScale(clock, meta)
  const journal = new Journal({
    database,
    clock,
    commitMs,
    lastCommit: meta?.commit ?? 0,
    committed: (commit) => tell(count, commit),
    report: (event) => context.report?.(event),
  })
  const marksFrom = meta?.marksFrom ?? 1
  const seen = new LevelSeen({
    database,
    journal,
    partitions,
    partitionOf,
    known: meta?.known ?? 0,
    inMemory: seenInMemory,
  })
  const frontier = new LevelFrontier({
    database,
    journal,
    scale,
    politeness,
    policy,
    partitions,
    partitionOf,
    hostsInMemory,
    requestsInMemory,
    pending: meta?.pending ?? 0,
    seq: meta?.seq ?? 0,
    // Whoever crashed may have visited any host at the last moment, without a trace.
    isCautious: meta !== undefined && count.wasCut,
    taken: (request, partition) => seen.taken(request, partition),
  })
  journal.beforeCommit(() => {
    seen.contribute()
    const counts = { ...frontier.counts, known: seen.size }
    const { commit } = journal
    const now: Meta = { format: FORMAT, identity, ...counts, ...scale.mark(), commit, marksFrom }
    journal.put(META, JSON.stringify(now))
  })
  seen.load()
  await frontier.open(clock.now())
  let closing: Promise<void> | undefined
  return {
    frontier,
    seen,
    state: levelState({ database, journal, partitions, partitionOf }),
    flush: () => journal.flush(),
    onCommit: (write) => journal.beforeCommit(write),
    condition: () => journal.condition,
    close() {
      closing ??= closeAll(frontier, seen, journal, database, count)
      return closing
    },
  }
}

/** The count is a second pair of eyes: a crawl does without it rather than fail. */
function tell(count: CommitCount, commit: number): void {
  try {
    count.write(commit)
  } catch {
    // The disk is full or the file is not ours to write.
  }
}

async function closeAll(
  frontier: LevelFrontier,
  seen: LevelSeen,
  journal: Journal,
  database: Database,
  count: CommitCount,
): Promise<void> {
  frontier.close()
  try {
    await journal.close()
  } finally {
    seen.close()
    await database.close()
    count.close()
  }
}

function checkResume({ path, resume }: Settings, meta: Meta | undefined): void {
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

function check(path: string, options: LevelOptions): Settings {
  if (typeof path !== 'string' || path === '') throw invalid('path', path, 'the path of a folder')
  if (typeof options !== 'object' || options === null) {
    throw invalid('options', options, "an object such as { resume: 'must' }")
  }
  const known = [
    'durability',
    'commitEvery',
    'resume',
    'hostsInMemory',
    'requestsInMemory',
    'seenInMemory',
    'repair',
  ]
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw invalid('option', name, known.join(', '))
  }
  const { durability = 'process', resume = 'auto', repair = false } = options
  const { commitEvery = DEFAULT_COMMIT_MS, hostsInMemory = DEFAULT_HOSTS_IN_MEMORY } = options
  if (durability !== 'process' && durability !== 'machine') {
    throw invalid('durability', durability, "'process' or 'machine'")
  }
  if (!['auto', 'never', 'must'].includes(resume))
    throw invalid('resume', resume, "'auto', 'never' or 'must'")
  if (typeof repair !== 'boolean') throw invalid('repair', repair, 'true or false')
  const commitMs = parseDuration(commitEvery)
  if (commitMs === undefined || commitMs > 60_000) {
    throw invalid('commitEvery', commitEvery, "a duration up to a minute, such as '100ms'")
  }
  const { requestsInMemory = DEFAULT_REQUESTS_IN_MEMORY, seenInMemory = DEFAULT_SEEN_IN_MEMORY } = options
  for (const [name, value] of Object.entries({ hostsInMemory, requestsInMemory, seenInMemory })) {
    if (!Number.isInteger(value) || value < 1) throw invalid(name, value, 'a whole number from 1 on')
  }
  return {
    path: resolve(path),
    durability,
    resume,
    repair,
    commitMs,
    hostsInMemory,
    requestsInMemory,
    seenInMemory,
  }
}

function invalid(option: string, given: unknown, allowed: string): KumoError {
  const shown = typeof given === 'string' ? `'${given}'` : String(given)
  return new KumoError('KUMO_INVALID_OPTION', `level: ${option}: got ${shown}; allowed: ${allowed}`)
}
