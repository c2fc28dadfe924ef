/**
 * Folders that a broken disk, a power failure or a helping hand has damaged. Each is refused or mended, and that is
 * told; none is silently empty, and none is silently less.
 */

import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { filesOf, openStore } from '../support.js'
import { type Crawl, crashedCrawl, everythingIn, left, verdictOn } from './damage-fixture.js'

let crawl: Crawl
/** One that has only its log yet. */
let young: Crawl
beforeAll(async () => {
  crawl = await crashedCrawl(3)
  young = await crashedCrawl(1)
})

const logOf = (path: string) => filesOf(path, /\.log$/).at(-1)!
const manifestOf = (path: string) => filesOf(path, /^MANIFEST-/).at(-1)!
const tablesOf = (path: string) => filesOf(path, /\.ldb$/)

function flip(file: string, share: number): void {
  const bytes = readFileSync(file)
  const at = Math.min(bytes.length - 1, Math.floor(bytes.length * share))
  bytes[at] = bytes[at]! ^ 0xff
  writeFileSync(file, bytes)
}

function cut(file: string, share: number): void {
  truncateSync(file, Math.floor(readFileSync(file).length * share))
}

test('the crawl that is damaged here has tables and a log of several blocks, and is whole before', async () => {
  const { path } = await left(crawl.path)
  expect(tablesOf(path).length).toBeGreaterThan(0)
  expect(readFileSync(logOf(path)).length).toBeGreaterThan(3 * 32_768)
  expect(await verdictOn(path, crawl)).toBe('whole')
})

describe('the log', () => {
  test.for([0, 0.0001, 0.01, 0.25, 0.5, 0.75])('a byte flipped at %f of it: refused', async (share) => {
    const { path } = await left(crawl.path)
    flip(logOf(path), share)
    expect(await verdictOn(path, crawl)).toBe('refused')
  })

  test.for([0, 0.0001, 0.1, 0.25, 0.5, 0.75])(
    'a byte flipped at %f of it, when there is nothing else: refused',
    async (share) => {
      const { path } = await left(young.path)
      flip(logOf(path), share)
      expect(await verdictOn(path, young)).toBe('refused')
    },
  )

  test.for([0.99, 1])(
    'a byte flipped at %f of it: what comes after is gone, and that is told',
    async (share) => {
      const { path } = await left(crawl.path)
      flip(logOf(path), share)
      expect(await verdictOn(path, crawl)).toBe('repaired')
    },
  )

  test.for([0, 0.0001, 0.1, 0.35, 0.5, 0.77, 0.9, 0.999])(
    'cut at %f of it: a whole number of commits is left',
    async (share) => {
      const { path } = await left(crawl.path)
      cut(logOf(path), share)
      expect(await verdictOn(path, crawl)).toBe('repaired')
    },
  )

  test('cut at any byte of its last commits: a whole number of commits is left', async () => {
    for (let bytes = 1; bytes < 4000; bytes += 501) {
      const { path } = await left(crawl.path)
      const file = logOf(path)
      truncateSync(file, readFileSync(file).length - bytes)
      expect(await verdictOn(path, crawl), `${bytes} bytes`).toBe('repaired')
    }
  })

  test('removed: what the tables hold is left, and that is told', async () => {
    const { path } = await left(crawl.path)
    rmSync(logOf(path))
    expect(await verdictOn(path, crawl)).toBe('repaired')
  })

  test('a crawl that was repaired goes on, and what was gone is not told again', async () => {
    const { path } = await left(crawl.path)
    cut(logOf(path), 0.5)
    const first = await openStore(path)
    const pending = first.frontier.pending
    await first.close()
    const second = await openStore(path)
    expect([second.frontier.pending, second.events]).toEqual([pending, []])
  })
})

/** Damage to anything but the end of the log is never mended without being asked. */
const REFUSED: readonly (readonly [
  string,
  (path: string) => void,
  'nothing is lost' | 'something is lost',
])[] = [
  ['the list of tables is empty', (path) => truncateSync(manifestOf(path), 0), 'nothing is lost'],
  ['the list of tables is cut in half', (path) => cut(manifestOf(path), 0.5), 'nothing is lost'],
  [
    'the list of tables is overwritten',
    (path) => writeFileSync(manifestOf(path), 'x'.repeat(500)),
    'nothing is lost',
  ],
  ['the list of tables is gone', (path) => rmSync(manifestOf(path)), 'nothing is lost'],
  ['CURRENT is gone', (path) => rmSync(join(path, 'CURRENT')), 'nothing is lost'],
  ['CURRENT is empty', (path) => truncateSync(join(path, 'CURRENT'), 0), 'nothing is lost'],
  [
    'CURRENT names nothing',
    (path) => writeFileSync(join(path, 'CURRENT'), 'MANIFEST-999999\n'),
    'nothing is lost',
  ],
  ['a table is gone', (path) => rmSync(tablesOf(path)[0]!), 'something is lost'],
  [
    'all tables are gone',
    (path) => {
      for (const table of tablesOf(path)) rmSync(table)
    },
    'something is lost',
  ],
  ['a table is cut in half', (path) => cut(tablesOf(path)[0]!, 0.5), 'something is lost'],
  ['a table is empty', (path) => truncateSync(tablesOf(path)[0]!, 0), 'something is lost'],
]

/** Opens it, whatever comes of that. */
async function opening(path: string): Promise<void> {
  await openStore(path).then(
    (opened) => opened.close(),
    () => {},
  )
}

function contentOf(files: readonly string[]): Map<string, string> {
  return new Map(files.map((file) => [file, readFileSync(file, 'latin1')]))
}

describe.for(REFUSED)('%s', ([, damage, loss]) => {
  test('it is refused', async () => {
    const { path } = await left(crawl.path)
    damage(path)
    expect(await verdictOn(path, crawl)).toBe('refused')
  })

  test('a refusal leaves the tables that can still be read', async () => {
    const { path } = await left(crawl.path)
    damage(path)
    const before = contentOf(tablesOf(path))
    await opening(path)
    const after = contentOf(tablesOf(path))
    expect([...before.keys()].filter((file) => after.get(file) !== before.get(file))).toEqual([])
  })

  test(`it can be repaired after the refusal: ${loss}, and what is pending is handed out`, async () => {
    const { path } = await left(crawl.path)
    damage(path)
    await opening(path)
    const pending = await repaired(path)
    if (loss === 'nothing is lost') expect(pending).toEqual(crawl.states.at(-1))
    else expect(pending.length).toBeGreaterThan(0)
  })
})

/** What is pending after a repair. All of it is handed out and known; that something was repaired is told, and once. */
async function repaired(path: string): Promise<readonly string[]> {
  const { pending, events, knows } = await everythingIn(path, { repair: true })
  const ever = new Set(crawl.states.flat())
  expect(pending.filter((name) => !ever.has(name))).toEqual([])
  expect(await knows(pending)).toEqual([])
  expect(events).toEqual([expect.stringMatching(new RegExp(`^repaired: .*${path}`))])
  const again = await everythingIn(path)
  expect(again).toMatchObject({ pending, events: [] })
  return pending
}

describe('what does not matter', () => {
  const HARMLESS: readonly (readonly [string, (path: string) => void])[] = [
    ['kumo-commits is gone', (path) => rmSync(join(path, 'kumo-commits'))],
    ['kumo-commits is empty', (path) => truncateSync(join(path, 'kumo-commits'), 0)],
    ['kumo-commits is overwritten', (path) => writeFileSync(join(path, 'kumo-commits'), '\0'.repeat(64))],
    ['LOCK is gone', (path) => rmSync(join(path, 'LOCK'), { force: true })],
    ['the diary is gone', (path) => rmSync(join(path, 'LOG'), { force: true })],
    ['a file that is not ours', (path) => writeFileSync(join(path, 'notes.txt'), 'mine')],
  ]
  test.for(HARMLESS)('%s', async ([, damage]) => {
    const { path } = await left(crawl.path)
    damage(path)
    expect(await verdictOn(path, crawl)).toBe('whole')
  })
})

test('a folder of which only kumo-commits is left is not taken for a new one', async () => {
  const { path } = await left(crawl.path)
  for (const file of filesOf(path, /^(?!kumo)/)) rmSync(file)
  expect(await verdictOn(path, crawl)).toBe('refused')
  expect(await verdictOn(path, crawl)).toBe('refused')
})

test('a crawl that is whole is opened with repair as without', async () => {
  const { path } = await left(crawl.path)
  const { pending, events } = await everythingIn(path, { repair: true })
  expect({ pending, events }).toEqual({ pending: crawl.states.at(-1), events: [] })
})

test('a log with a hole is repaired when asked, but for the block with the hole', async () => {
  const { path } = await left(crawl.path)
  flip(logOf(path), 0.5)
  const pending = await repaired(path)
  expect(crawl.states.at(-1)!.filter((name) => !pending.includes(name)).length).toBeLessThan(100)
})
