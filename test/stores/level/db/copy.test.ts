/** Copies of a database that somebody is writing to: each is the database as it was at one moment. */

import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { inspectCrawl } from 'kumo'
import { expect, test } from 'vitest'
import { copyOf, sizeOf } from '../../../../src/stores/level/db/copy.js'
import { readCounts } from '../../../../src/stores/level/format/counts.js'
import { sleep } from '../../../crawler/support.js'
import { requestFor } from '../../../fetch/support.js'
import { runProgram } from '../../../run-program.js'
import { folder } from '../folders.js'
import { expectRefusal, openStore, takeIn, withDatabase } from '../support.js'

test('copies taken while a store writes and rearranges its files hold whole commits, each more than the last', async () => {
  const path = join(await folder(), 'crawl')
  const opened = await openStore(path, { commitEvery: 1 })
  let isWriting = true
  const padding = 'x'.repeat(1500)
  const writing = (async () => {
    for (let i = 0; isWriting; i += 100) {
      const requests = Array.from({ length: 100 }, (_, page) => {
        return requestFor(`https://h${page % 10}.example/${i + page}?${padding}`)
      })
      await takeIn(opened, requests)
      await opened.flush()
    }
  })()
  let last = 0
  for (let i = 0; i < 12; i++) {
    await sleep(60)
    const copy = await copyOf(path)
    const { counted, pending } = await withDatabase(copy.path, async (database) => {
      const { counts } = JSON.parse((await database.get('m')) ?? '{"counts":""}') as { counts: string }
      const pending = readCounts(counts).reduce((sum, each) => sum + each.pending, 0)
      const keys = await database.keys({ gte: 'p', lt: 'q' }).all()
      return { counted: keys.length, pending }
    })
    expect(counted).toBe(pending)
    expect(counted % 100).toBe(0)
    expect(counted).toBeGreaterThanOrEqual(last)
    last = counted
    await copy.remove()
  }
  isWriting = false
  await writing
  expect(last).toBeGreaterThan(1000)
  expect((await readdir(path)).some((name) => name.endsWith('.ldb'))).toBe(true)
  expect(await readdir(dirname(path))).toEqual(['crawl'])
})

test('what a killed process left is removed by the next, and what a living one uses is not', async () => {
  const path = join(await folder(), 'crawl')
  const opened = await openStore(path)
  await takeIn(opened, [requestFor('https://a.example/')])
  await opened.close()
  const here = await copyOf(path)
  await runProgram('test/stores/level/db/copies-and-waits.ts', [path], {
    onOutput: (_, child) => void child.kill('SIGKILL'),
  })
  expect((await readdir(dirname(path))).length).toBe(3)
  await inspectCrawl(path)
  expect((await readdir(dirname(path))).sort()).toEqual([basename(here.path), 'crawl'])
  await here.remove()
  expect(await readdir(dirname(path))).toEqual(['crawl'])
})

test('the copy holds nothing but the database, and removing it leaves the original', async () => {
  const path = await folder()
  const opened = await openStore(path)
  await takeIn(opened, [requestFor('https://a.example/')])
  await opened.close()
  await writeFile(join(path, 'notes.txt'), 'mine')
  const before = (await readdir(path)).sort()
  const copy = await copyOf(path)
  expect((await readdir(copy.path)).every((name) => /^CURRENT$|^MANIFEST-|\.(ldb|log)$/.test(name))).toBe(
    true,
  )
  await copy.remove()
  await copy.remove()
  expect((await readdir(path)).sort()).toEqual(before)
})

test('a folder that is gone is named', async () => {
  const path = await folder()
  await rm(path, { recursive: true })
  await expectRefusal(copyOf(path), 'KUMO_STORE_DAMAGED', path)
})

test('the size of a folder is that of its files', async () => {
  const path = await folder()
  await writeFile(join(path, 'a'), 'x'.repeat(1000))
  await writeFile(join(path, 'b'), 'x'.repeat(234))
  expect(await sizeOf(path)).toBe(1234)
})

test('tables that are not finished when a copy is made are not touched by whoever opens the copy', async () => {
  const path = join(await folder(), 'crawl')
  const opened = await openStore(path)
  await takeIn(opened, [requestFor('https://a.example/')])
  await opened.flush()
  const log = Number.parseInt((await readdir(path)).find((name) => name.endsWith('.log'))!, 10)
  // The numbers that whoever writes takes next, and so does whoever opens the copy.
  const begun = Array.from({ length: 6 }, (_, i) => `${String(log + 1 + i).padStart(6, '0')}.ldb`)
  for (const name of begun) await writeFile(join(path, name), 'not finished')
  expect((await inspectCrawl(path)).pending).toBe(1)
  for (const name of begun) expect(await readFile(join(path, name), 'utf8')).toBe('not finished')
  for (const name of begun) await rm(join(path, name))
  await opened.close()
})
