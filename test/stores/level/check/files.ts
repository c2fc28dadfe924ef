/** Databases made by LevelDB itself, for what reads them without it. */

import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { seededRandom } from 'kumo/adapters'
import { Level } from 'level'
import { examine } from '../../../../src/stores/level/check/examine.js'
import { folder } from '../folders.js'

export interface Made {
  readonly path: string
  /** What it holds. */
  readonly entries: readonly (readonly [key: string, value: string])[]
}

/**
 * A database after so many lives, each of which writes, overwrites and removes: with tables at several levels and a log. It
 * is closed, which leaves the log of its last life as it is.
 */
export async function database(lives: number, seed = 1, writeBufferSize = 65_536): Promise<Made> {
  const path = await folder()
  const random = seededRandom(seed)
  const number = (below: number) => Math.floor(random.next() * below)
  let entries: [string, string][] = []
  for (let life = 0; life < lives; life++) {
    const level = new Level<string, string>(path, {
      keyEncoding: 'utf8',
      valueEncoding: 'utf8',
      writeBufferSize,
    })
    await level.open()
    for (let commit = 0; commit < 60; commit++) {
      const batch = level.batch()
      for (let i = 0; i < 20; i++) {
        const key = `key ${number(800)}`
        if (number(4) === 0) batch.del(key)
        else batch.put(key, `${life} ${commit} ${'text that can be packed '.repeat(number(10))}`)
      }
      await batch.write()
    }
    entries = await level.iterator().all()
    await level.close()
  }
  await removeUnfinished(path)
  return { path, entries }
}

/** A compaction that was closed in the middle leaves tables, whole or not, that the list does not name. */
async function removeUnfinished(path: string): Promise<void> {
  const { tables } = await examine(path, false)
  const listed = new Set(tables.map(({ name }) => name))
  for (const { name } of files(path, /\.ldb$/)) if (!listed.has(name)) rmSync(join(path, name))
}

export function files(path: string, ending: RegExp): { name: string; bytes: Buffer }[] {
  return readdirSync(path)
    .filter((name) => ending.test(name))
    .sort()
    .map((name) => ({ name, bytes: readFileSync(join(path, name)) }))
}

/** Calls back with the file once for each of its bytes, with one bit of it flipped. */
export function eachFlip(
  bytes: Uint8Array,
  stride: number,
  look: (flipped: Uint8Array, at: number) => void,
): void {
  const flipped = Uint8Array.from(bytes)
  for (let at = 0; at < bytes.length; at += stride) {
    const bit = 1 << (at % 8)
    flipped[at]! ^= bit
    look(flipped, at)
    flipped[at]! ^= bit
  }
}
