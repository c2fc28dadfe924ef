/** Folders that are refused: what a user is told, and that nothing is touched then. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type LevelOptions, level } from 'kumo'
import { byHost } from 'kumo/adapters'
import { expect, test } from 'vitest'
import { askedPaths, direct, linkedPages, linksTo, site, until } from '../../../crawler/support.js'
import { requestFor } from '../../../fetch/support.js'
import type { Route } from '../../../loopback/site.js'
import { runProgram } from '../../../run-program.js'
import { folder } from '../folders.js'
import { expectRefusal, openStore, pendingUrls, takeIn, withDatabase } from '../support.js'

const TYPOS: readonly (readonly [string, unknown, string | RegExp])[] = [
  [
    'an option that does not exist',
    { durable: true },
    /option: got 'durable'; allowed: durability, commitEvery/,
  ],
  [
    'a durability that does not exist',
    { durability: 'disk' },
    "durability: got 'disk'; allowed: 'process' or 'machine'",
  ],
  [
    'a resume that does not exist',
    { resume: 'yes' },
    "resume: got 'yes'; allowed: 'auto', 'never' or 'must'",
  ],
  ['a duration without a unit', { commitEvery: '100' }, "commitEvery: got '100'; allowed: a duration"],
  ['a commit every hour', { commitEvery: '1h' }, 'a duration up to a minute'],
  ['no hosts in memory', { hostsInMemory: 0 }, 'hostsInMemory: got 0; allowed: a whole number, 1 or more'],
  ['half a request in memory', { requestsInMemory: 0.5 }, 'requestsInMemory: got 0.5; allowed'],
  ['a number as text', { hostsInMemory: '10' }, "hostsInMemory: got '10'; allowed"],
  ['a repair that is not yes or no', { repair: 'yes' }, "repair: got 'yes'; allowed: true or false"],
  ['options that are null', null, 'level: options: got null'],
  ['options that are a text', 'must', "level: options: got 'must'"],
]

test.for(TYPOS)('%s: the message names the option and what it takes', ([, options, told]) => {
  expect(() => level('folder', options as LevelOptions)).toThrow(
    expect.objectContaining({
      code: 'KUMO_INVALID_OPTION',
      message: told instanceof RegExp ? expect.stringMatching(told) : expect.stringContaining(told),
    }),
  )
})

test.for([undefined, '', 7, null])('a path that is %s is refused', (path) => {
  expect(() => level(path as string)).toThrow(
    expect.objectContaining({ code: 'KUMO_INVALID_OPTION', message: expect.stringContaining('level: path') }),
  )
})

test("resume 'never' refuses a folder with a crawl, and leaves it as it is", async () => {
  const path = await folder()
  const requests = [requestFor('https://a.example/')]
  const first = await openStore(path, { resume: 'never' })
  await takeIn(first, requests)
  await first.close()
  await expectRefusal(
    openStore(path, { resume: 'never' }),
    'KUMO_STORE_RESUME',
    path,
    /'never'.*another folder/,
  )
  expect(await pendingUrls((await openStore(path)).frontier)).toEqual(['https://a.example/'])
})

test("resume 'must' refuses a folder without a crawl, and makes none there", async () => {
  const path = join(await folder(), 'mistyped')
  await expectRefusal(
    openStore(path, { resume: 'must' }),
    'KUMO_STORE_RESUME',
    path,
    /'must'.*check the path/,
  )
  expect(existsSync(path)).toBe(false)
})

test("resume 'must' goes on with a crawl", async () => {
  const path = await folder()
  const first = await openStore(path)
  await takeIn(first, [requestFor('https://a.example/')])
  await first.close()
  expect((await openStore(path, { resume: 'must' })).frontier.pending).toBe(1)
})

test('a crawl goes on only with the options that its data was made with', async () => {
  const started = await site(linkedPages(10))
  const path = await folder()
  const crawler = direct.seeds(started.url()).limit({ pages: 3 }).store(level(path))
  await crawler.run()
  const others = {
    'urls({ drop })': crawler.urls({ drop: ['utm_source', 'session'] }),
    'partition (number of partitions)': crawler.partitioner(byHost(17)),
  }
  for (const [option, other] of Object.entries(others)) {
    await expectRefusal(other.run(), 'KUMO_STORE_MISMATCH', path, option, /start again in another folder/)
  }
  expect(askedPaths(started)).toHaveLength(3)
  expect(await crawler.limit({ pages: 5 }).run()).toMatchObject({ reason: 'limit', pages: 5 })
})

test('the order in which dropped parameters are named does not matter', async () => {
  const started = await site(linkedPages(3))
  const crawler = direct.seeds(started.url()).store(level(await folder()))
  await crawler.urls({ drop: ['a', 'b'] }).run()
  expect(await crawler.urls({ drop: ['b', 'a'] }).run()).toMatchObject({ reason: 'already-done' })
})

test('a partitioner that puts hosts elsewhere is refused by the name of a host, though it has as many partitions', async () => {
  const started = await site(linkedPages(10))
  const path = await folder()
  const crawler = direct.seeds(started.url()).limit({ pages: 3 }).store(level(path))
  const at = (partition: number) => crawler.partitioner({ partitions: 8, partition: () => partition })
  await at(3).run()
  const { host } = new URL(started.url())
  await expectRefusal(
    at(4).run(),
    'KUMO_STORE_MISMATCH',
    host,
    /partition 3, but the partitioner assigns it to 4/,
  )
  expect(askedPaths(started)).toHaveLength(3)
  expect(await at(3).run()).toMatchObject({ reason: 'limit', pages: 3, earlierRuns: 1 })
})

test('a crawl that a newer version wrote is refused, and the message says so', async () => {
  const path = await folder()
  const first = await openStore(path)
  await takeIn(first, [requestFor('https://a.example/')])
  await first.close()
  await withDatabase(path, async (database) => {
    const meta = JSON.parse((await database.get('m'))!)
    await database.put(
      'm',
      JSON.stringify({ ...meta, format: meta.format + 1, identity: 'of another shape' }),
    )
    const [key] = await database.keys({ gte: 'p', lt: 'q', limit: 1 }).all()
    await database.put(key!, 'a request of another shape')
  })
  await expectRefusal(
    openStore(path),
    'KUMO_STORE_MISMATCH',
    path,
    /newer version of Kumo \(format 5; this version supports up to 4\); update Kumo/,
  )
  await expectRefusal(openStore(path, { repair: true }), 'KUMO_STORE_MISMATCH', path)
  await withDatabase(path, async (database) => {
    const requests = await database.values({ gte: 'p', lt: 'q' }).all()
    expect(requests, 'what this version does not understand is not removed').toEqual([
      'a request of another shape',
    ])
  })
})

/** A crawl in a folder that has asked for its first page, and waits for the answer until it is told to go on. */
async function runningCrawl(count: number) {
  let answer: (() => void) | undefined
  const links = linksTo(...Array.from({ length: count - 1 }, (_, i) => `/${i + 1}`))
  const first: Route = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    if (answer !== undefined) response.end()
    else answer = () => response.end(links)
  }
  const started = await site({ ...linkedPages(count), '/': first })
  const path = await folder()
  const crawler = direct.seeds(started.url()).store(level(path))
  const running = crawler.run()
  await until(() => answer !== undefined, 'the crawl asks for its first page')
  const goesOnUnharmed = async () => {
    answer!()
    expect(await running).toMatchObject({ reason: 'done', pages: count })
    expect(askedPaths(started)).toHaveLength(count)
    expect(await crawler.run()).toMatchObject({ reason: 'already-done', pages: count })
  }
  const inAnotherRun = () => crawler.concurrency(3).run()
  const inAnotherProcess = async () => {
    const args = [path, started.url('/1'), '1']
    const { stdout, stderr } = await runProgram('test/stores/level/db/exits-by-itself.ts', args)
    return stdout + stderr
  }
  return { path, inAnotherRun, inAnotherProcess, goesOnUnharmed }
}

test('a folder in use is refused to another run of the same process', async () => {
  const { path, inAnotherRun, goesOnUnharmed } = await runningCrawl(30)
  for (let i = 0; i < 3; i++) {
    await expectRefusal(inAnotherRun(), 'KUMO_STORE_LOCKED', path, /in use by another crawl.*another folder/)
  }
  await goesOnUnharmed()
})

test('a folder in use is refused to another process', async () => {
  const { inAnotherProcess, goesOnUnharmed } = await runningCrawl(30)
  expect(await inAnotherProcess()).toContain('KUMO_STORE_LOCKED')
  await goesOnUnharmed()
})

test('a folder in use is refused to another process, also after another run of the same process was refused it', async () => {
  const { path, inAnotherRun, inAnotherProcess, goesOnUnharmed } = await runningCrawl(30)
  await expectRefusal(inAnotherRun(), 'KUMO_STORE_LOCKED', path)
  expect(await inAnotherProcess()).toContain('KUMO_STORE_LOCKED')
  await goesOnUnharmed()
})

test('a folder is free again as soon as its crawl has ended', async () => {
  const { inAnotherRun, inAnotherProcess, goesOnUnharmed } = await runningCrawl(3)
  await goesOnUnharmed()
  expect(await inAnotherRun()).toMatchObject({ reason: 'already-done' })
  expect(await inAnotherProcess()).toBe('limit handles:0\n')
})
