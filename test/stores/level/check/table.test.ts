/** Tables that LevelDB wrote are read as it reads them, and no flipped bit in one goes unnoticed. */

import { beforeAll, expect, test } from 'vitest'
import { entriesOf, readTable } from '../../../../src/stores/level/check/table.js'
import { database, eachFlip, files } from './files.js'

let tables: { name: string; bytes: Buffer }[]
beforeAll(async () => {
  tables = files((await database(3)).path, /\.ldb$/)
})

function contentOf(table: Uint8Array): string {
  const { blocks } = readTable(table)
  return blocks
    .flatMap((block) => [...entriesOf(table, block)])
    .map(({ key, sequence, value }) => `${Buffer.from(key)} ${sequence} ${value && Buffer.from(value)}`)
    .join('\n')
}

test('tables of LevelDB are whole, and have several blocks', () => {
  expect(tables.length).toBeGreaterThan(0)
  for (const { bytes } of tables) expect(readTable(bytes)).toMatchObject({ faults: [], lost: [] })
  expect(Math.max(...tables.map(({ bytes }) => readTable(bytes).blocks.length))).toBeGreaterThan(3)
  expect(contentOf(tables[0]!.bytes)).toMatch(/^key \d+ \d+ \d+ \d+ text that/m)
})

test('a flipped bit is noticed, or changes nothing', () => {
  const table = tables[0]!.bytes
  const content = contentOf(table)
  let unnoticed = 0
  eachFlip(table, 1, (flipped, at) => {
    if (readTable(flipped).faults.length > 0) return
    unnoticed++
    expect(at, 'in the footer, where it means nothing').toBeGreaterThanOrEqual(table.length - 48)
    expect(contentOf(flipped)).toBe(content)
  })
  expect(unnoticed).toBeLessThan(40)
})

test('what lies beside a damaged block is read, and what is lost lies between two keys', () => {
  const table = Uint8Array.from(tables[0]!.bytes)
  const whole = readTable(table)
  const { from } = whole.blocks[1]!
  table[from]! ^= 1
  const { blocks, lost } = readTable(table)
  expect(blocks).toEqual(whole.blocks.filter((_, i) => i !== 1))
  expect(lost).toHaveLength(1)
  const { after, upTo } = lost[0]!
  for (const { key } of entriesOf(tables[0]!.bytes, whole.blocks[1]!)) {
    expect(Buffer.compare(after!, key)).toBeLessThanOrEqual(0)
    expect(Buffer.compare(key, upTo!)).toBeLessThanOrEqual(0)
  }
})

test('a table that is cut anywhere, or empty, or no table at all', () => {
  const { bytes } = tables[0]!
  for (let length = 0; length < bytes.length; length += 7)
    expect(readTable(bytes.subarray(0, length)).faults).toHaveLength(1)
  expect(readTable(Buffer.alloc(10_000)).faults).toHaveLength(1)
  expect(readTable(Buffer.from('x'.repeat(10_000))).faults).toHaveLength(1)
})
