import { copyFile, link, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { KumoError, messageOf } from '../../../errors.js'
import { examine, inWords } from '../check/examine.js'
import { INTERRUPTED, isRebuilding } from '../opening/rebuild.js'
import { Database } from './database.js'
import { damaged, toStoreError } from './errors.js'
import { isAlive } from './folder.js'

/** A crawl at full speed rearranges its files every few seconds, and a copy takes milliseconds; far more on a busy machine. */
const TRIES = 500
/** An error that occurs this often is not due to files that come and go. */
const FAILING_TRIES = 20

export interface FolderCopy {
  readonly path: string
  remove(): Promise<void>
}

/**
 * A consistent copy of a database folder that may be in use. Tables are never changed once written, so a hard link is
 * enough for each; the log and the list of tables are copied. If files appeared or disappeared in the meantime, it
 * starts over.
 *
 * A table newer than the log may not be in the list yet. Opening the copy could reuse its name for a new table and
 * overwrite it, so such a table is copied, not linked.
 */
export async function copyOf(folder: string): Promise<FolderCopy> {
  for (let i = 0, failures = 0; i < TRIES; i++) {
    const path = await besides(folder)
    try {
      const before = await readdir(folder)
      const log = Math.max(0, ...before.filter((name) => name.endsWith('.log')).map(numberOf))
      for (const name of inOrder(before)) {
        await copy(join(folder, name), join(path, name), isTable(name) && numberOf(name) < log)
      }
      const after = await readdir(folder)
      if (isSame(before, after)) return { path, remove: () => remove(path) }
    } catch (error) {
      if (++failures === FAILING_TRIES) {
        await remove(path)
        throw damaged(folder, `it could not be copied: ${messageOf(error)}`)
      }
    }
    await remove(path)
  }
  const message = `the crawl in ${folder} could not be copied, because its files change all the time; try again`
  throw new KumoError('KUMO_STORE_FAILED', message)
}

/** Reads a consistent snapshot of the crawl in a folder. A damaged crawl is refused, as it would be when opened. */
export async function withCopy<T>(folder: string, read: (database: Database) => Promise<T>): Promise<T> {
  const copy = await copyOf(folder)
  try {
    await assertWhole(folder, copy.path)
    const database = await Database.open(copy.path, false)
    try {
      return await read(database)
    } finally {
      await database.close()
    }
  } catch (error) {
    // The caller only knows the original folder, so messages must not mention the copy.
    if (!(error instanceof KumoError)) throw error
    throw new KumoError(error.code, error.message.replaceAll(copy.path, folder), { cause: error })
  } finally {
    await copy.remove()
  }
}

async function assertWhole(folder: string, copy: string): Promise<void> {
  const { faults } = await examine(copy, true).catch((error) => {
    throw toStoreError(folder, error)
  })
  if (faults.length > 0) throw damaged(folder, inWords(faults))
  if (await isRebuilding(folder)) throw damaged(folder, INTERRUPTED)
}

/** Next to the original, where hard links work, unless that folder is not writable. */
async function besides(folder: string): Promise<string> {
  try {
    return await newFolder(dirname(folder))
  } catch {
    return await newFolder(tmpdir())
  }
}

/** Copies are named after the process that made them, so that later processes can remove those of a killed one. */
const NAME = '.kumo-inspect-'
/** Process IDs are only valid on one machine or container, and several may share a volume. */
const MACHINE = hostname().replace(/[^A-Za-z0-9]/g, '_')
const LEFT_BEHIND = new RegExp(`^\\${NAME}${MACHINE}-(\\d+)-`)

async function newFolder(parent: string): Promise<string> {
  const path = await mkdtemp(join(parent, `${NAME}${MACHINE}-${process.pid}-`))
  for (const name of await readdir(parent)) {
    const pid = LEFT_BEHIND.exec(name)?.[1]
    if (pid !== undefined && !isAlive(Number(pid))) await remove(join(parent, name)).catch(() => {})
  }
  return path
}

/** The list of tables first: the tables it names are still there when their turn comes, or the copy starts over. */
function inOrder(names: readonly string[]): string[] {
  const rank = (name: string) =>
    name === 'CURRENT' ? 0 : name.startsWith('MANIFEST') ? 1 : isTable(name) ? 3 : 2
  return names.filter((name) => isTable(name) || isList(name)).sort((a, b) => rank(a) - rank(b))
}

function isTable(name: string): boolean {
  return /\.(ldb|sst)$/.test(name)
}

function isList(name: string): boolean {
  return name === 'CURRENT' || name.startsWith('MANIFEST-') || name.endsWith('.log')
}

/** Files are numbered in order of creation. */
function numberOf(name: string): number {
  return Number.parseInt(name, 10)
}

async function copy(from: string, to: string, mayLink: boolean): Promise<void> {
  if (!mayLink) return copyFile(from, to)
  try {
    await link(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error
    await copyFile(from, to)
  }
}

function isSame(before: readonly string[], after: readonly string[]): boolean {
  const relevant = (names: readonly string[]) => inOrder(names).sort().join('\n')
  return relevant(before) === relevant(after)
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true })
}

/** Total size of the files in a folder, including damaged ones that were set aside. */
export async function sizeOf(folder: string): Promise<number> {
  const sizes = (await readdir(folder, { recursive: true })).map((name) =>
    stat(join(folder, name)).then(
      (found) => (found.isFile() ? found.size : 0),
      () => 0,
    ),
  )
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
