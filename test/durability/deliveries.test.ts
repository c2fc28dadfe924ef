/** What an application was handed is read back whole, and what could mislead it is noticed. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Delivery, readDeliveries, wrongDeliveries } from './deliveries.js'

const a: Delivery = { id: 'aaaa', attempt: 0, url: 'http://a.example/' }
const b: Delivery = { id: 'bbbb', attempt: 1, url: 'http://b.example/' }
const wanted = new Set([a.url, b.url])

test('a line is a delivery', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kumo-deliveries-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'deliveries.txt')
  writeFileSync(file, `aaaa 0 ${a.url}\nbbbb 1 ${b.url}\n`)
  expect(readDeliveries(file)).toEqual([a, b])
  writeFileSync(file, '')
  expect(readDeliveries(file)).toEqual([])
})

test.each<[string, readonly Delivery[], ReadonlySet<string> | undefined, readonly string[]]>([
  ['each page once', [a, b], wanted, []],
  ['a page again under its name', [a, b, a, a], wanted, []],
  ['not all, where not all are wanted', [a], undefined, []],
  ['a page that is missing', [a], wanted, [`${b.url} was never delivered`]],
  [
    'a page under another name',
    [a, b, { ...a, id: 'cccc' }],
    wanted,
    [`${a.url} was delivered as aaaa/0 and again as cccc/0`],
  ],
  [
    'a page at another attempt',
    [a, b, { ...b, attempt: 2 }],
    wanted,
    [`${b.url} was delivered as bbbb/1 and again as bbbb/2`],
  ],
  ['a name of two pages', [a, { ...b, id: 'aaaa' }], wanted, [`aaaa is the name of ${b.url} and ${a.url}`]],
  ['a page of no one', [a, b], new Set([a.url]), [`${b.url} was delivered and is none of the pages`]],
])('%s', (_, deliveries, pages, findings) => expect(wrongDeliveries(deliveries, pages)).toEqual(findings))
