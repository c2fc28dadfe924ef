/**
 * Checks whether the files of a database are intact, before LevelDB opens them. LevelDB trusts what it finds in tables,
 * skips what it cannot read in logs, deletes tables that its list does not name, and aborts the process on impossible
 * data.
 */

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pluralize } from '../../../errors.js'
import { type LogContent, readLog } from './log.js'
import { type ListedTable, readManifest, type TableList } from './manifest.js'
import { readTable } from './table.js'

/** A file that is damaged or missing, and what is wrong with it. */
export interface Fault {
  readonly file: string
  readonly what: string
}

/** A table to read. */
export interface TableFile {
  readonly name: string
  /** Its entry in the list of tables; absent if there is no list. */
  readonly listed?: ListedTable | undefined
}

/** The parts of a database. */
export interface Examination {
  readonly faults: readonly Fault[]
  /** The end of the last log is unreadable: left by a power failure, or damage to the last commits. */
  readonly tail: Fault | undefined
  /** Tables that belong to the database; all existing ones, if the list of tables is unreadable. */
  readonly tables: readonly TableFile[]
  /** Tables that should exist but do not. */
  readonly missing: readonly ListedTable[]
  /** Logs whose contents are not in tables yet, in order. */
  readonly logs: readonly string[]
}

/** Describes faults, to be part of a sentence. */
export function inWords([first, ...others]: readonly Fault[]): string {
  const more =
    others.length === 0 ? '' : ` (and ${pluralize(others.length, 'more fault')}, in ${filesOf(others)})`
  return `${first!.file}: ${first!.what}${more}`
}

/** Number of files listed before "and others". */
const LISTED_FILES = 5

function filesOf(faults: readonly Fault[]): string {
  const files = [...new Set(faults.map(({ file }) => file))]
  return files.slice(0, LISTED_FILES).join(', ') + (files.length > LISTED_FILES ? ' and others' : '')
}

const LIST = 'CURRENT'
const TABLE = /^(\d+)\.(ldb|sst)$/
const LOG = /^(\d+)\.log$/
const MANIFEST = /^MANIFEST-\d+$/

/** Files of a database that cannot be recreated. */
export function isDatabaseFile(name: string): boolean {
  return name === LIST || TABLE.test(name) || LOG.test(name) || MANIFEST.test(name)
}

/** `tables`: whether to check the contents of tables, not just their names and sizes. */
export async function examine(folder: string, tables: boolean): Promise<Examination> {
  const names = await readdir(folder).catch(absent)
  if (names === undefined || !names.some(isDatabaseFile)) return NOTHING
  const faults: Fault[] = []
  const list = await readList(folder, names, faults)
  const belonging = list === undefined ? all(names) : listed(names, list, faults)
  for (const table of belonging.tables) {
    const what = await faultIn(folder, table, tables)
    if (what !== undefined) faults.push({ file: table.name, what })
  }
  const tail = await examineLogs(folder, belonging.logs, faults)
  return { faults, tail, ...belonging }
}

const NOTHING: Examination = { faults: [], tail: undefined, tables: [], missing: [], logs: [] }

async function readList(
  folder: string,
  names: readonly string[],
  faults: Fault[],
): Promise<TableList | undefined> {
  const current = await bytesOf(join(folder, LIST))
  const named = /^(.*)\n$/.exec(Buffer.from(current ?? '').toString('latin1'))?.[1]
  const manifests = names.filter((name) => MANIFEST.test(name))
  const isThere = named !== undefined && manifests.includes(named)
  if (current === undefined) faults.push({ file: LIST, what: 'it is missing' })
  else if (!isThere) faults.push({ file: LIST, what: 'it does not name an existing list of tables' })
  // If there is only one manifest, it must be the right one.
  const manifest = isThere ? named : manifests.length === 1 ? manifests[0] : undefined
  const content = manifest && (await bytesOf(join(folder, manifest)))
  if (!manifest || !content) return undefined
  try {
    return readManifest(content)
  } catch (error) {
    faults.push({ file: manifest, what: (error as Error).message })
    return undefined
  }
}

type Belonging = Pick<Examination, 'tables' | 'missing' | 'logs'>

function all(names: readonly string[]): Belonging {
  const tables = names.filter((name) => TABLE.test(name)).map((name) => ({ name }))
  return { tables, missing: [], logs: logsFrom(names, () => true) }
}

function listed(names: readonly string[], list: TableList, faults: Fault[]): Belonging {
  const there = new Map<number, string>()
  for (const name of names) {
    const number = TABLE.exec(name)?.[1]
    if (number !== undefined) there.set(Number(number), name)
  }
  const tables: TableFile[] = []
  const missing: ListedTable[] = []
  for (const table of list.tables) {
    const name = there.get(table.number)
    there.delete(table.number)
    if (name !== undefined) tables.push({ name, listed: table })
    else {
      missing.push(table)
      faults.push({ file: nameOf(table.number, 'ldb'), what: 'it is missing' })
    }
  }
  const logs = logsFrom(names, (number) => number >= list.log || number === list.previousLog)
  // A log is deleted only when a table has replaced it. If no such table is listed, the list has lost its end.
  const isLogMissing = list.log > 0 && !names.includes(nameOf(list.log, 'log'))
  if (isLogMissing && there.size > 0) {
    const what = `it is missing, and the list of tables does not name ${[...there.values()].join(', ')}`
    faults.push({ file: nameOf(list.log, 'log'), what })
  }
  return { tables, missing, logs }
}

function logsFrom(names: readonly string[], belongs: (number: number) => boolean): string[] {
  const number = (name: string) => Number.parseInt(name, 10)
  return names.filter((name) => LOG.test(name) && belongs(number(name))).sort((a, b) => number(a) - number(b))
}

/** LevelDB writes at least six digits. */
function nameOf(number: number, ending: string): string {
  return `${String(number).padStart(6, '0')}.${ending}`
}

async function faultIn(folder: string, table: TableFile, content: boolean): Promise<string | undefined> {
  if (content) return readTable(await tableIn(folder, table)).faults[0]
  const size = (await stat(join(folder, table.name)).catch(() => undefined))?.size ?? 0
  return table.listed !== undefined && size < table.listed.bytes ? 'it is cut short' : undefined
}

/** Bytes beyond the size given in the list are not part of the table. */
export async function tableIn(folder: string, { name, listed }: TableFile): Promise<Uint8Array> {
  const file = await bytesOf(join(folder, name))
  return file?.subarray(0, listed?.bytes) ?? new Uint8Array(0)
}

/**
 * Returns what is wrong with the end of the last log, which may be incomplete after a crash. It may be followed by
 * empty logs of processes that were killed before they wrote anything.
 */
async function examineLogs(
  folder: string,
  logs: readonly string[],
  faults: Fault[],
): Promise<Fault | undefined> {
  let tail: Fault | undefined
  let isLast = true
  for (const file of [...logs].reverse()) {
    const { records, holes, end } = await logIn(join(folder, file))
    const [hole] = holes
    const what = `commits at byte ${hole?.at} cannot be read, so URLs may be missing`
    if (hole !== undefined) faults.push({ file, what })
    else if (!isLast && end !== 'whole') faults.push({ file, what: 'its end is missing' })
    else if (end === 'unreadable') tail = { file, what: 'its end cannot be read' }
    if (records.length > 0) isLast = false
  }
  return tail
}

/** A log that was deleted since it was listed counts as empty. */
export async function logIn(path: string): Promise<LogContent> {
  return readLog((await bytesOf(path)) ?? new Uint8Array(0))
}

/** Undefined: there is no such file. */
async function bytesOf(path: string): Promise<Uint8Array | undefined> {
  return await readFile(path).catch(absent)
}

function absent(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
  throw error
}
