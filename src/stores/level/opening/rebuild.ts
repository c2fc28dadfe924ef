/**
 * Builds a new database from what can be read of a damaged one. The damaged files are first moved aside unchanged, and
 * the new database takes their place. If that is interrupted, the next attempt starts over from the files set aside.
 * LevelDB's own repair is not used: it accepts log records with wrong checksums, confuses old and new values, and
 * aborts the process on impossible data.
 */

import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { examine, isDatabaseFile } from '../check/examine.js'
import { type Losses, salvage } from '../check/salvage.js'
import { Database } from '../db/database.js'

/** Where damaged files are kept, in one folder per repair. */
const ASIDE = 'damaged'
/** An empty file in that folder marks a repair in progress, and its stage. */
const MOVING = 'moving'
const BUILDING = 'building'

/** Describes a folder whose repair was interrupted. */
export const INTERRUPTED = 'a repair of it was interrupted'

export interface Rebuilt {
  readonly database: Database
  readonly losses: Losses
  /** The folder of the damaged files. */
  readonly aside: string
  /** Call this when the rebuilt crawl is complete and on disk. Returns the names of the files that stay set aside. */
  finish(): Promise<string[]>
}

/** Whether a repair was interrupted: the folder then contains only a part of the database. */
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

/** Moves the database files out of the way. Removes what an interrupted repair has built. */
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

/** Intact files are contained in the new database and removed; damaged ones stay for inspection. */
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

/** A request whose removal is lost comes back, and its page is fetched again. */
function isRequest(key: Uint8Array): boolean {
  return key[0] === PENDING || key[0] === LATER
}

const PENDING = 'p'.charCodeAt(0)
const LATER = 'l'.charCodeAt(0)
