import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { csv, jsonl } from 'kumo/sinks'
import { describe, expect, test } from 'vitest'
import { csvCell } from '../../../../src/hooks/sinks/files/csv.js'
import { newFolder, pageNumber, writeAll } from '../support.js'

describe('csv', () => {
  test.each<[unknown, string]>([
    ['plain', 'plain'],
    ['', ''],
    [null, ''],
    [undefined, ''],
    [0, '0'],
    [false, 'false'],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['carriage\rreturn', '"carriage\rreturn"'],
    [' space', '" space"'],
    ['nul\0byte', 'nul\uFFFDbyte'],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [{ a: ['b'] }, '"{""a"":[""b""]}"'],
  ])('%j is the cell %j', (value, cell) => {
    expect(csvCell(value)).toBe(cell)
  })

  test('has a header, once, and its default columns', async () => {
    const path = join(newFolder(), 'pages.csv')
    await writeAll(csv(path), [pageNumber(1, { title: 'One, two' })])
    await writeAll(csv(path), [pageNumber(2)])
    const { id } = pageNumber(1)
    expect(readFileSync(path, 'utf8').split('\r\n')).toEqual([
      'id,url,status,change,fetchedAt,mediaType,title,depth,parent',
      `${id},https://example.com/1,200,new,2023-11-14T22:13:20.000Z,text/html,"One, two",0,`,
      expect.stringContaining('https://example.com/2'),
      '',
    ])
  })

  test('a record that JSON cannot represent fails the page, and nothing else', async () => {
    const loop: Record<string, unknown> = {}
    loop.loop = loop
    const hook = jsonl(join(newFolder(), 'pages.jsonl'), { record: () => loop })
    await expect(writeAll(hook, [pageNumber(1)])).rejects.toThrow('circular')
    await hook.close?.()
  })

  test.each<[object, string]>([
    [{ columns: {} }, 'csv.columns: got no column; allowed: at least one'],
    [{ columns: { a: 'url' } }, "csv.columns.a: got 'url'; allowed: a function of a page"],
    [{ compress: 'zip' }, "csv.compress: got 'zip'; allowed: 'gzip', 'zstd' or 'none'"],
    [{ rotate: 'much' }, "csv.rotate: got 'much'; allowed: a number of bytes, or a text such as '256MB'"],
    [{ sync: 1 }, 'csv.sync: got 1; allowed: true or false'],
    [{ rotat: 1 }, "csv: got the key 'rotat'"],
  ])('%j', (options, message) => {
    expect(() => csv('pages.csv', options as never)).toThrow(message)
  })
})
