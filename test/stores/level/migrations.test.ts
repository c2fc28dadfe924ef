/** Stores of earlier formats go step by step to the present one; what a step changes is one commit. */

import { expect, test } from 'vitest'
import { Database } from '../../../src/stores/level/database.js'
import { META } from '../../../src/stores/level/keys.js'
import type { Meta } from '../../../src/stores/level/meta.js'
import { migrate } from '../../../src/stores/level/migrations.js'
import { folder } from './folders.js'

const META_OF_1: Meta = {
  format: 1,
  identity: {},
  pending: 1,
  known: 1,
  seq: 1,
  commit: 1,
  marksFrom: 1,
  at: 0,
}

test('two steps, each in its turn', async () => {
  const database = await Database.open(await folder(), false)
  await database.write({ values: new Map([['x', 'one']]), once: [] })
  const steps = {
    1: async (db: Database) => new Map([['x', `${await db.get('x')}, two`]]),
    2: async (db: Database) => new Map([['x', `${await db.get('x')}, three`]]),
  }
  const meta = await migrate(database, META_OF_1, steps, 3)
  expect(meta).toEqual({ ...META_OF_1, format: 3 })
  expect(await database.get('x')).toBe('one, two, three')
  expect(JSON.parse((await database.get(META))!)).toEqual(meta)
  await database.close()
})

test('a step that fails leaves what was before it', async () => {
  const database = await Database.open(await folder(), false)
  const steps = {
    1: async () => new Map([['x', 'two']]),
    2: async () => {
      throw new Error('no')
    },
  }
  await expect(migrate(database, META_OF_1, steps, 3)).rejects.toThrow('no')
  expect(await database.get('x')).toBe('two')
  expect(JSON.parse((await database.get(META))!)).toMatchObject({ format: 2 })
  await database.close()
})

test('a format that nobody knows the way from is refused', async () => {
  const database = await Database.open(await folder(), false)
  await expect(migrate(database, META_OF_1, {}, 2)).rejects.toThrow('format 1')
  await database.close()
})
