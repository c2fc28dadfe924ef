/** What the readers of others find in our archives. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LoopbackSite } from '../loopback/site.js'
import { archive, BODIES, base32Sha1, startArchivedSite } from './archived-site.js'
import { indexWithWarcio, readWithNodeWarc, readWithWarcio, type SeenRecord } from './other-readers.js'

let site: LoopbackSite

beforeAll(async () => {
  site = await startArchivedSite()
})
afterAll(() => site.close())

function fileIn(folder: string): string {
  return join(folder, readdirSync(folder).find((name) => /\.warc(\.gz)?$/.test(name))!)
}

async function all(records: AsyncIterable<SeenRecord>): Promise<SeenRecord[]> {
  const list: SeenRecord[] = []
  for await (const record of records) list.push(record)
  return list
}

describe.each([
  ['warcio', readWithWarcio],
  ['node-warc', readWithNodeWarc],
] as const)('%s', (_, read) => {
  it.each([true, false])('reads every record, with its payload and digest (gzip: %s)', async (gzip) => {
    const records = await all(read(fileIn(await archive(site, { gzip }))))
    const count = (type: string) => records.filter((each) => each.type === type).length
    const fetched = Object.keys(BODIES).length + 1
    expect([count('warcinfo'), count('response'), count('revisit'), count('request')]).toEqual([
      1,
      fetched - 1,
      1,
      fetched,
    ])
    for (const { type, url, payload, digest, status } of records) {
      if (type !== 'response') continue
      const path = new URL(url!).pathname
      const body = BODIES[path] ?? Buffer.alloc(0)
      expect(payload.equals(body), path).toBe(true)
      expect(digest).toBe(`sha1:${base32Sha1(body)}`)
      expect(status).toBe(path === '/missing' ? 404 : path === '/old' ? 301 : 200)
    }
  })
})

it('warcio makes the same index', async () => {
  const folder = await archive(site)
  const file = fileIn(folder)
  const ours = readFileSync(file.replace(/\.warc\.gz$/, '.cdxj'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, urlkey, timestamp, json] = /^(\S+) (\d+) (.*)$/.exec(line)!
      const { url, mime, status, digest, length, offset, filename } = JSON.parse(json!)
      return { urlkey, timestamp, url, mime, status, digest, length, offset, filename }
    })
  const theirs = await indexWithWarcio(file, file.slice(folder.length + 1))
  const key = ({ offset }: { offset: string }) => Number(offset)
  const plain = theirs.map(({ urlkey, timestamp, url, mime, status, digest, length, offset, filename }) => ({
    urlkey,
    timestamp,
    url,
    mime,
    status: String(status),
    digest,
    length: String(length),
    offset: String(offset),
    filename,
  }))
  expect(ours.sort((a, b) => key(a) - key(b))).toEqual(
    plain.sort((a, b) => key(a as never) - key(b as never)),
  )
})
