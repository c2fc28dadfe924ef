/**
 * Makes a new database of what can be read of a damaged one. Its files are set aside first, so that nothing of them is
 * changed, and the new database lies where the old one was; whoever is interrupted begins again with what was set aside.
 * LevelDB has a repair of its own, but that takes logs for true that do not match their checksums, confuses old values with
 * new ones, and ends the process where it meets what is impossible.
 */

import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { examine, isDatabaseFile } from '../check/examine.js'
import { type Losses, salvage } from '../check/salvage.js'
import { Database } from '../db/database.js'

/** Where damaged files are kept, in a folder for each repair. */
const ASIDE = 'damaged'
/** Whether a repair is going on, and how far it has come, says an empty file in its folder. */
const MOVING = 'moving'
const BUILDING = 'building'

/** What is the matter with a folder whose repair was. */
export const INTERRUPTED = 'a repair of it was interrupted'

export interface Rebuilt {
  readonly database: Database
  readonly losses: Losses
  /** Where the damaged files are. */
  readonly aside: string
  /** To be called when the crawl in it is whole, and on disk. Answers with the names of files that stay set aside. */
  finish(): Promise<string[]>
}

/** Whether a repair was begun and interrupted: what is in the folder is then not all of it. */
export async function isRebuilding(path: string): Promise<boolean> {
  return (await unfinished(path)) !== undefined
}

export async function rebuild(path: string, sync: boolean): Promise<Rebuilt> {
  const aside = await setAside(path)
  const database = await Database.open(path, sync)
  try {
    const found = await examine(aside, true)
    const losses = { tables: 0, changes: 0, doubtful: 0 }
    for await (const entries of salvage(aside, found, losses, isRequest)) await database.load(entries)
    const kept = new Set([...found.faults.map(({ file }) => file), ...(found.tail ? [found.tail.file] : [])])
    return { database, losses, aside, finish: () => finish(aside, kept) }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Moves the files of the database out of the way. What an interrupted repair has built is removed. */
async function setAside(path: string): Promise<string> {
  const aside = (await unfinished(path)) ?? (await newFolder(path))
  const isMoved = existsSync(join(aside, BUILDING))
  for (const name of (await readdir(path)).filter(isDatabaseFile)) {
    if (isMoved) await rm(join(path, name))
    else await rename(join(path, name), join(aside, name))
  }
  if (!isMoved) await rename(join(aside, MOVING), join(aside, BUILDING))
  return aside
}

async function newFolder(path: string): Promise<string> {
  const last = Math.max(0, ...(await foldersIn(path)))
  const aside = join(path, ASIDE, String(last + 1))
  await mkdir(aside, { recursive: true })
  await writeFile(join(aside, MOVING), '')
  return aside
}

async function unfinished(path: string): Promise<string | undefined> {
  for (const number of await foldersIn(path)) {
    const aside = join(path, ASIDE, String(number))
    if ([MOVING, BUILDING].some((name) => existsSync(join(aside, name)))) return aside
  }
  return undefined
}

async function foldersIn(path: string): Promise<number[]> {
  const names = await readdir(join(path, ASIDE)).catch(() => [])
  return names.filter((name) => /^\d+$/.test(name)).map(Number)
}

/** What is whole is in the new database; what is damaged stays, for whoever can read more of it. */
async function finish(aside: string, kept: ReadonlySet<string>): Promise<string[]> {
  await rm(join(aside, BUILDING))
  const names = await readdir(aside)
  for (const name of names) if (!kept.has(name)) await rm(join(aside, name))
  const left = names.filter((name) => kept.has(name))
  if (left.length === 0) {
    await rm(aside, { recursive: true })
    // If it was the only one.
    await rmdir(dirname(aside)).catch(() => {})
  }
  return left
}

/** A request that comes back because its removal is lost makes a page that is fetched again. */
function isRequest(key: Uint8Array): boolean {
  return key[0] === PENDING || key[0] === LATER
}

const PENDING = 'p'.charCodeAt(0)
const LATER = 'l'.charCodeAt(0)
