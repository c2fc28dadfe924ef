/** What is read without LevelDB is what LevelDB reads; and of a damaged database, all that is not damaged. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { examine } from '../../../../src/stores/level/check/examine.js'
import { type Losses, salvage } from '../../../../src/stores/level/check/salvage.js'
import { database, files } from './files.js'

async function read(path: string): Promise<{ entries: [string, string][]; losses: Losses }> {
  const losses = { tables: 0, changes: 0, doubtful: 0 }
  const entries: [string, string][] = []
  for await (const some of salvage(path, await examine(path, true), losses, () => true)) {
    for (const { key, value } of some)
      entries.push([Buffer.from(key).toString(), Buffer.from(value!).toString()])
  }
  return { entries, losses }
}

const NOTHING_LOST: Losses = { tables: 0, changes: 0, doubtful: 0 }

describe.for([1, 2, 6])('a database of %i lives', (lives) => {
  test('is whole, and read as LevelDB reads it', async () => {
    const { path, entries } = await database(lives, lives)
    expect(await examine(path, true)).toMatchObject({ faults: [], tail: undefined, missing: [] })
    expect(await read(path)).toEqual({ entries, losses: NOTHING_LOST })
  })

  test.for([
    ['CURRENT', /^CURRENT$/],
    ['its list of tables', /^MANIFEST-/],
  ] as const)('without %s nothing is lost: later values win over earlier ones', async ([, name]) => {
    const { path, entries } = await database(lives, 10 + lives)
    for (const file of files(path, name)) rmSync(join(path, file.name))
    expect((await examine(path, true)).faults.length).toBeGreaterThan(0)
    expect(await read(path)).toEqual({ entries, losses: NOTHING_LOST })
  })
})

test('of a table with one damaged block the others are read', async () => {
  const { path, entries } = await database(6)
  const [table] = files(path, /\.ldb$/).sort((a, b) => b.bytes.length - a.bytes.length)
  table!.bytes[10]! ^= 4
  writeFileSync(join(path, table!.name), table!.bytes)
  const found = await read(path)
  expect(found.losses).toMatchObject({ tables: 1, changes: 0 })
  const values = new Map(entries)
  const lost = entries.filter(([key]) => !found.entries.some(([other]) => other === key)).length
  const stale = found.entries.filter(([key, value]) => values.get(key) !== value).length
  expect(lost).toBeLessThan(entries.length / 4)
  expect(stale).toBeLessThanOrEqual(found.losses.doubtful)
})

test('changes that a log has lost are counted', async () => {
  const { path } = await database(2)
  const log = files(path, /\.log$/).at(-1)!
  log.bytes[Math.floor(log.bytes.length / 2)]! ^= 1
  writeFileSync(join(path, log.name), log.bytes)
  expect((await examine(path, true)).faults).toEqual([
    { file: log.name, what: expect.stringContaining('commits at byte') },
  ])
  // Each commit has 20.
  expect((await read(path)).losses).toEqual({ tables: 0, changes: 20, doubtful: 0 })
  log.bytes[8]! ^= 1
  writeFileSync(join(path, log.name), log.bytes)
  expect((await read(path)).losses.changes).toBeGreaterThanOrEqual(40)
})

test('a log without its end is what a killed process leaves, unless another was written after it', async () => {
  const { path } = await database(2)
  const log = files(path, /\.log$/).at(-1)!
  writeFileSync(join(path, log.name), log.bytes.subarray(0, -5))
  // Of a process that was killed while it opened the database.
  const next = join(path, `${String(Number.parseInt(log.name, 10) + 9).padStart(6, '0')}.log`)
  writeFileSync(next, '')
  expect(await examine(path, true)).toMatchObject({ faults: [], tail: undefined })
  writeFileSync(next, log.bytes)
  expect((await examine(path, true)).faults).toEqual([{ file: log.name, what: 'its end is missing' }])
})

test('a missing table is a fault, junk behind a table is none, and a short one is found without reading it', async () => {
  const { path, entries } = await database(3)
  const [table] = files(path, /\.ldb$/)
  const file = join(path, table!.name)
  writeFileSync(file, Buffer.concat([table!.bytes, Buffer.from('junk')]))
  expect(await read(path)).toEqual({ entries, losses: NOTHING_LOST })
  writeFileSync(file, readFileSync(file).subarray(0, 100))
  expect((await examine(path, false)).faults).toEqual([{ file: table!.name, what: 'it is cut short' }])
  rmSync(file)
  expect((await examine(path, false)).faults).toEqual([{ file: table!.name, what: 'it is missing' }])
})

test('a table that is called as in earlier times is found', async () => {
  const { path, entries } = await database(3)
  for (const { name, bytes } of files(path, /\.ldb$/)) {
    rmSync(join(path, name))
    writeFileSync(join(path, name.replace('ldb', 'sst')), bytes)
  }
  expect(await read(path)).toEqual({ entries, losses: NOTHING_LOST })
})

test('a folder without a database has no faults', async () => {
  const { path } = await database(1)
  for (const { name } of files(path, /./)) rmSync(join(path, name))
  expect(await examine(path, true)).toMatchObject({ faults: [], tables: [], logs: [] })
  expect(await examine(join(path, 'nothing'), true)).toMatchObject({ faults: [], tables: [], logs: [] })
})
