/** Indexes that other versions of Kumo wrote: older ones work on, newer ones are refused and left alone. */

import { cpSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import { openIndex, openWriter } from 'kumo/search'
import { describe, expect, test } from 'vitest'
import { CheckedWriter } from '../../../src/search/segment/checked-file.js'
import { freshFolder, opened } from '../corpus.js'

/** Written by the first version: two segments with own fields, and a document that was replaced. */
const FIRST = fileURLToPath(new URL('./first-format', import.meta.url))

function firstIndex(): string {
  const folder = freshFolder()
  cpSync(FIRST, folder, { recursive: true })
  // It is JSON with a checksum below, which linters do not like.
  renameSync(join(folder, 'shard-0/manifest.txt'), join(folder, 'shard-0/manifest.json'))
  return folder
}

describe('an index of the first version', () => {
  async function check(folder: string): Promise<void> {
    const index = await opened(folder)
    expect(await index.verify()).toMatchObject({ documents: 4, sections: 5 })
    for (const [query, url] of Object.entries({
      'grassy leaves': 'https://example.com/tea',
      '"roasted beans"': 'https://example.com/coffee',
      'tag:hot price:4..5 note:brewed': 'https://example.com/tea',
      京都: 'https://example.jp/',
      'ガイド api': 'https://example.jp/',
      över: 'https://example.se/',
    }))
      expect((await index.search(query, { fuzzy: false })).hits[0]?.url, query).toBe(url)
    expect((await index.search('beans')).total).toBe(1)
    expect(await index.get('https://example.com/coffee')).toMatchObject({
      sections: [{ text: 'Roasted beans, ground.' }],
      fields: { price: 3.5 },
    })
  }

  test('is searched', async () => {
    await check(firstIndex())
  })

  test('is written on, and compacted', async () => {
    const folder = firstIndex()
    const writer = await openWriter(folder)
    await writer.put({ url: 'https://example.com/more', text: 'another day' })
    await writer.commit()
    await writer.delete('https://example.com/more')
    await writer.compact()
    expect(writer.stats()).toMatchObject({ segments: 1, deleted: 0 })
    await writer.close()
    await check(folder)
  })
})

describe('a newer version', () => {
  const refused = { code: 'KUMO_INDEX_MISMATCH', message: expect.stringMatching(/format 2.*update Kumo/) }

  test('of the manifest is refused by readers and writers, which change nothing', async () => {
    const folder = firstIndex()
    const path = join(folder, 'shard-0/manifest.json')
    const body = JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8').split('\n')[0]!), format: 2 })
    const text = `${body}\n${crc32(body).toString(16).padStart(8, '0')}\n`
    writeFileSync(path, text)
    await expect(openIndex(folder)).rejects.toMatchObject(refused)
    await expect(openWriter(folder)).rejects.toMatchObject(refused)
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  test('of a segment is refused by readers and writers', async () => {
    const folder = firstIndex()
    const file = new CheckedWriter(join(folder, 'shard-0/segment-1'))
    await file.finish({ format: 2 }, false)
    await expect(openIndex(folder)).rejects.toMatchObject(refused)
    await expect(openWriter(folder)).rejects.toMatchObject(refused)
  })
})
