/** Writing: what is committed is there, once, whatever happens around it. */

import { readdirSync, readFileSync, symlinkSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openIndex, openWriter } from 'kumo/search'
import { describe, expect, test } from 'vitest'
import { isThorough } from '../../thorough.js'
import { freshFolder, indexOf, madeDocuments, madeQueries, opened, shown } from '../corpus.js'

const QUERIES = isThorough ? 300 : 100

const segmentsIn = (folder: string) =>
  readdirSync(join(folder, 'shard-0')).filter((name) => name.startsWith('segment-'))

describe('documents', () => {
  test('are found after a commit, by readers that were open before it', async () => {
    const folder = freshFolder()
    const writer = await openWriter(folder)
    await writer.put({ url: 'https://a.example/', title: 'Tea', text: 'green leaves' })
    await writer.commit()
    const index = await opened(folder)
    await writer.put({ url: 'https://b.example/', title: 'Coffee', text: 'roasted beans' })
    expect((await index.search('beans')).total).toBe(0)
    await writer.commit()
    expect((await index.search('beans')).hits[0]?.url).toBe('https://b.example/')
    await writer.close()
    expect(await index.stats()).toMatchObject({ documents: 2, sections: 2, deleted: 0 })
  })

  test('replace the one with the same id, in the same commit and in later ones', async () => {
    const folder = freshFolder()
    const writer = await openWriter(folder, { sync: false })
    const put = (text: string) => writer.put({ id: 'x', url: 'https://a.example/', text })
    await put('first')
    await put('second')
    await writer.commit()
    await put('third')
    await writer.commit()
    const index = await opened(folder)
    for (const [word, total] of Object.entries({ first: 0, second: 0, third: 1 }))
      expect((await index.search(word, { fuzzy: false })).total).toBe(total)
    await writer.delete('x')
    await writer.delete('never there')
    await writer.close()
    expect((await index.search('third', { fuzzy: false })).total).toBe(0)
    expect(await index.get('x')).toBeUndefined()
    expect(segmentsIn(folder)).toEqual([])
  })

  test('are returned as they were put', async () => {
    const document = {
      url: 'https://a.example/x',
      title: '中文 & 日本語',
      language: 'ja',
      date: '2026-01-02T00:00:00Z',
      sections: [
        { anchor: 'one', heading: 'Eins', path: ['Null'], text: 'line\nline 😀' },
        { heading: 'Zwei', path: [], text: '' },
      ],
      fields: { tag: ['a', 'b'], price: 3 },
    }
    const index = await indexOf([document], { fields: { tag: 'keyword', price: 'number' } })
    expect(await index.get('https://a.example/x')).toEqual({
      ...document,
      id: 'https://a.example/x',
      date: Date.parse(document.date),
      sections: [document.sections[0], { ...document.sections[1], anchor: undefined }],
    })
  })
})

describe('merging', () => {
  test('after compact(), hits and order are those of an index that was built at once', async () => {
    const documents = madeDocuments(150)
    const folder = freshFolder()
    const writer = await openWriter(folder, { sync: false })
    for (const [at, document] of documents.entries()) {
      // An older version of every third document, and some that are deleted again.
      if (at % 3 === 0) await writer.put({ ...document, sections: madeDocuments(1, at + 7)[0]!.sections })
      if (at % 10 === 0) await writer.put({ url: `https://gone.example/${at}`, text: documents[at]!.title! })
      if (at % 7 === 0) await writer.commit()
    }
    for (const [at, document] of documents.entries()) {
      await writer.put(document)
      if (at % 10 === 0) await writer.delete(`https://gone.example/${at}`)
      if (at % 11 === 0) await writer.commit()
    }
    await writer.commit()
    const index = await opened(folder)
    const whole = await indexOf(documents)
    const queries = madeQueries(40)
    for (const query of queries)
      expect((await index.search(query)).total, query).toBe((await whole.search(query)).total)
    await writer.compact()
    expect(await index.verify()).toMatchObject({ documents: 150, segments: 1, deleted: 0 })
    for (const query of queries) expect(await shown(index, query), query).toEqual(await shown(whole, query))
    await writer.close()
    expect(segmentsIn(folder)).toHaveLength(1)
  })

  test('happens by itself and keeps the number of segments small', async () => {
    const index = await indexOf(madeDocuments(200), {}, 2)
    const { segments, documents } = await index.verify()
    expect(documents).toBe(200)
    expect(segments).toBeLessThan(12)
  })

  test(`four shards that were compacted rank as one does: the first ten of ${QUERIES} queries`, async () => {
    const documents = madeDocuments(240)
    const folder = freshFolder()
    for (let shard = 0; shard < 4; shard++) {
      const writer = await openWriter(folder, { shard, sync: false })
      const own = documents.filter((_, at) => at % 4 === shard)
      // An older version of each, and one that is deleted again.
      for (const document of own) await writer.put({ ...document, sections: documents[0]!.sections })
      await writer.put({ ...documents[1]!, url: 'https://gone.example/' })
      await writer.commit()
      for (const document of own) await writer.put(document)
      await writer.delete('https://gone.example/')
      await writer.compact()
      await writer.close()
    }
    const sharded = await opened(folder)
    const whole = await indexOf(documents)
    expect(await sharded.stats()).toMatchObject({ documents: 240, segments: 4, deleted: 0 })
    for (const query of madeQueries(QUERIES))
      expect(await shown(sharded, query), query).toEqual(await shown(whole, query))
  })

  test('goes on beside puts and commits, and takes what they delete into account', async () => {
    const folder = freshFolder()
    const writer = await openWriter(folder, { sync: false })
    const documents = madeDocuments(240)
    const commitsDuringMerges: number[] = []
    for (const [at, document] of documents.entries()) {
      await writer.put(document)
      if (at > 30 && at % 3 === 0) await writer.delete(documents[at - 30]!.url)
      if (at % 5 !== 4) continue
      await writer.commit()
      // Eight of them are merged, so more are there only while that is not done yet.
      if (writer.stats().segments >= 8) commitsDuringMerges.push(at)
    }
    await writer.close()
    expect(commitsDuringMerges.length).toBeGreaterThan(0)
    const gone = documents.filter((_, at) => at + 30 > 30 && at + 30 < 240 && (at + 30) % 3 === 0)
    const index = await opened(folder)
    expect((await index.verify()).documents).toBe(240 - gone.length)
    for (const { url } of gone) expect(await index.get(url), url).toBeUndefined()
  })
})

describe('trouble', () => {
  test('a second writer is refused, in the same process too, until the first is closed', async () => {
    const folder = freshFolder()
    const first = await openWriter(folder)
    await expect(openWriter(folder)).rejects.toMatchObject({ code: 'KUMO_INDEX_LOCKED' })
    await first.close()
    await (await openWriter(folder)).close()
  })

  test('the lock of a process that is gone is taken over; that of another machine is not', async () => {
    const folder = freshFolder()
    await (await openWriter(folder)).close()
    const lock = join(folder, 'shard-0/write.lock')
    writeFileSync(
      lock,
      JSON.stringify({ pid: 2 ** 22 + 1, machine: 'elsewhere.example', started: '', token: 'x' }),
    )
    await expect(openWriter(folder)).rejects.toThrow(/elsewhere\.example/)
    const { hostname } = await import('node:os')
    writeFileSync(lock, JSON.stringify({ pid: 2 ** 22 + 1, machine: hostname(), started: '', token: 'x' }))
    await (await openWriter(folder)).close()
  })

  test('a writer whose lock was taken away commits nothing', async () => {
    const folder = freshFolder()
    const writer = await openWriter(folder)
    await writer.commit()
    unlinkSync(join(folder, 'shard-0/write.lock'))
    await writer.put({ url: 'https://a.example/', text: 'lost' })
    await expect(writer.commit()).rejects.toMatchObject({ code: 'KUMO_INDEX_LOCKED' })
    expect((await (await opened(folder)).stats()).documents).toBe(0)
    await expect(writer.close()).rejects.toMatchObject({ code: 'KUMO_INDEX_LOCKED' })
  })

  test('a full disk leaves the last commit, and the next attempt has everything', async () => {
    const folder = freshFolder()
    const writer = await openWriter(folder)
    await writer.put({ url: 'https://a.example/', text: 'before' })
    await writer.commit()
    const next = join(folder, 'shard-0/segment-2')
    symlinkSync('/dev/full', next)
    await writer.put({ url: 'https://b.example/', text: 'after' })
    await expect(writer.commit()).rejects.toMatchObject({
      code: 'KUMO_INDEX_FAILED',
      message: expect.stringContaining('ENOSPC'),
    })
    const index = await opened(folder)
    expect((await index.search('after', { fuzzy: false })).total).toBe(0)
    await writer.close()
    expect((await index.search('after')).hits[0]?.url).toBe('https://b.example/')
    expect((await index.search('before')).total).toBe(1)
  })

  test('settings must be those of the index', async () => {
    const folder = freshFolder()
    await (await openWriter(folder, { fields: { tag: 'keyword' } })).close()
    await expect(openWriter(folder, { fields: { tag: 'text' } })).rejects.toMatchObject({
      code: 'KUMO_INDEX_MISMATCH',
    })
    await expect(openWriter(folder, { segmenters: { ja: (run) => [run] } })).rejects.toMatchObject({
      code: 'KUMO_INDEX_MISMATCH',
    })
    const writer = await openWriter(folder)
    await expect(writer.put({ url: 'https://a.example/', fields: { colour: 'red' } })).rejects.toThrow(
      /'colour'/,
    )
    await writer.close()
    await expect(writer.put({ url: 'https://a.example/' })).rejects.toMatchObject({
      code: 'KUMO_INDEX_FAILED',
    })
  })
})

describe('damage', () => {
  async function damagedIndex(damage: (path: string) => void): Promise<string> {
    const folder = freshFolder()
    const writer = await openWriter(folder, { sync: false })
    for (const document of madeDocuments(40)) await writer.put(document)
    await writer.close()
    damage(join(folder, 'shard-0', segmentsIn(folder)[0]!))
    return folder
  }

  test('any changed byte is noticed by verify(), and by whatever reads it', async () => {
    const { length } = readFileSync(join(await damagedIndex(() => {}), 'shard-0/segment-1'))
    for (let at = 0; at < length; at += Math.floor(length / 40)) {
      const folder = await damagedIndex((path) => {
        const bytes = readFileSync(path)
        bytes[at]! ^= 0x10
        writeFileSync(path, bytes)
      })
      const verified = openIndex(folder).then((index) => index.verify())
      await expect(verified, `byte ${at}`).rejects.toMatchObject({ code: 'KUMO_INDEX_DAMAGED' })
    }
  })

  test.each<[string, (path: string) => void]>([
    ['a segment that was cut', (path) => truncateSync(path, 1000)],
    ['an empty segment', (path) => truncateSync(path, 0)],
    ['a segment that is gone', (path) => unlinkSync(path)],
    [
      'a manifest that was changed',
      (path) => {
        const manifest = join(path, '../manifest.json')
        writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"records":', '"records":1'))
      },
    ],
  ])('%s is refused by readers and writers', async (_, damage) => {
    const folder = await damagedIndex(damage)
    await expect(openIndex(folder)).rejects.toMatchObject({ code: 'KUMO_INDEX_DAMAGED' })
    await expect(openWriter(folder)).rejects.toMatchObject({ code: 'KUMO_INDEX_DAMAGED' })
  })

  test('a folder without an index says how to make one', async () => {
    await expect(openIndex(freshFolder())).rejects.toThrow(/kumo index/)
    await expect(openIndex('/nowhere/at/all')).rejects.toMatchObject({ code: 'KUMO_INDEX_FAILED' })
  })
})

test('what is put while a commit writes is not lost', async () => {
  const folder = freshFolder()
  const writer = await openWriter(folder, { sync: false })
  const commits: Promise<void>[] = []
  for (let turn = 0; turn < 60; turn++) {
    await writer.put({ url: `https://example.com/${turn}`, text: 'here' })
    commits.push(writer.commit())
    if (turn % 3 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all(commits)
  await writer.close()
  expect((await (await opened(folder)).search('here', { fuzzy: false })).total).toBe(60)
})
