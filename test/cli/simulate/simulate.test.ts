/** `kumo simulate` in its own process. */

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Crawler, level } from 'kumo'
import { describe, expect, onTestFinished, test } from 'vitest'
import { helpText } from '../../../src/cli/help.js'
import { SIMULATE_OPTIONS } from '../../../src/cli/simulate/options.js'
import { refreshOptions } from '../../../src/options/check-refresh.js'
import { describeWorld, simulateRefresh } from '../../../src/sim/index.js'
import { linkedPages, site, until } from '../../crawler/support.js'
import { PROJECT, runProgram } from '../../run-program.js'

const simulate = (...args: string[]) => runProgram('src/cli/main.ts', ['simulate', ...args])

const DAY = 86_400_000

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kumo-simulate-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

/** A row of `--json`. */
interface Row {
  readonly sockets: number
  readonly servers: number
  readonly pages: number
  readonly visitsPerDay: number
  readonly wantedPerDay: number
  readonly stretch: number
  readonly socketsNeeded: number
  readonly bytesPerDay: number
}

const rowsOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Row)

const FIGURES = [
  ...['--servers', '20', '--pages', '5', '--change', '2h..20d', '--download', '30s~0.5'],
  ...['--days', '3', '--learn', '1', '--min', '20m', '--delay', '2s', '--target', '0.7', '--seed', '4'],
]

describe('kumo simulate', () => {
  test.concurrent('--json prints what the library forecasts for the same figures', async () => {
    const { code, stdout, stderr } = await simulate(...FIGURES, '--sockets', '1,3', '--json')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const rows = rowsOf(stdout)
    expect(rows.map(({ sockets }) => sockets)).toEqual([1, 3])
    const world = describeWorld({
      servers: 20,
      pagesPerServer: 5,
      changeMs: { min: DAY / 12, max: 20 * DAY },
      downloadMs: { median: 30_000, spread: 0.5 },
      seed: 4,
    })
    for (const row of rows) {
      const forecast = simulateRefresh(world, {
        sockets: row.sockets,
        delayMs: 2000,
        refresh: refreshOptions({ min: '20m', target: 0.7 }).refresh,
        learningMs: DAY,
        durationMs: 3 * DAY,
        seed: 4,
      })
      expect(row).toMatchObject({
        servers: 20,
        pages: 100,
        visitsPerDay: forecast.visits / 3,
        missedPerDay: forecast.missed / 3,
        caughtShare: forecast.caughtShare,
        freshness: forecast.freshness,
        meanAgeMs: forecast.meanAgeMs,
        latenessMs: forecast.lateness.meanMs,
        worstLatenessMs: forecast.lateness.worstMs,
        stretch: forecast.feasibility.stretch,
        socketsNeeded: forecast.feasibility.socketsNeeded,
        bytesPerDay: forecast.bytes / 3,
      })
    }
  })

  test('prints a table that fits on a screen, and draws a chart', async () => {
    const chart = join(await newFolder(), 'chart.svg')
    const { code, stdout, stderr } = await simulate(...FIGURES, '--sockets', '1, 2,8', '--svg', chart)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [head, ...rows] = stdout.trimEnd().split('\n')
    expect(head!.split(/ +/)).toEqual([
      'sockets',
      'needed',
      'stretch',
      'visits/day',
      'caught',
      'fresh',
      'age',
      'late',
      'bytes/day',
    ])
    expect(head).toHaveLength(80)
    expect(rows).toHaveLength(3)
    for (const [i, row] of rows.entries()) {
      expect(row).toHaveLength(80)
      expect(row).toMatch(
        /^ {6}[128] +\d+ +\d\.\d\d +[\d,]+ +\d+\.\d% +\d+\.\d% .* (s|min|h) +[\d.]+ (kB|MB)$/,
      )
      expect(row.trim().startsWith(['1', '2', '8'][i]!)).toBe(true)
    }
    const svg = await readFile(chart, 'utf8')
    expect(svg).toMatch(/^<svg [\s\S]*<\/svg>\n$/)
    expect(svg).not.toContain('NaN')
    for (const word of ['freshness', 'changes caught', 'wanted', 'worst server', 'sockets']) {
      expect(svg).toContain(word)
    }
  })

  test('a chart of one number of sockets has an axis too; infeasible servers are named', async () => {
    const chart = join(await newFolder(), 'chart.svg')
    const { code, stdout } = await simulate(
      ...['--servers', '2', '--pages', '200', '--min', '1m', '--max', '1m', '--days', '0.1', '--svg', chart],
    )
    expect(code).toBe(0)
    expect(stdout).toContain(
      '\n2 servers cannot be visited as often as planned with any number of sockets; server-',
    )
    expect(await readFile(chart, 'utf8')).not.toContain('NaN')
  })

  test('--from reads what a crawl has learned, even while it runs', async () => {
    const folder = await newFolder()
    const { url } = await site(linkedPages(6))
    const crawler = new Crawler()
      .seeds(url())
      .delay(10)
      .robots(false)
      .store(level(folder))
      .refresh({ min: 100, max: 300, first: 100 })
    const run = crawler.start()
    await until(() => (run.stats()?.changes.unchanged ?? 0) >= 12, 'pages that were visited again')
    const what = ['--from', folder, '--sockets', '1', '--json', '--days', '0.002', '--learn', '0.001']
    const rules = ['--min', '100ms', '--max', '300ms', '--first', '100ms', '--delay', '10ms']
    const meanwhile = await simulate(...what, ...rules)
    run.stop()
    await run.done
    const after = await simulate(...what, ...rules)
    for (const { code, stdout, stderr } of [meanwhile, after]) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const [row] = rowsOf(stdout) as [Row]
      expect(row).toMatchObject({ sockets: 1, servers: 1, pages: 6 })
      // No page is visited more than ten times a second, nor less than thrice.
      expect(row.wantedPerDay).toBeLessThanOrEqual(6 * 10 * 86_400 * 1.0001)
      expect(row.wantedPerDay).toBeGreaterThanOrEqual(6 * 3.3 * 86_400)
      // These pages are small, and the crawl has counted.
      expect(row.bytesPerDay / row.visitsPerDay).toBeLessThan(2000)
    }
  })

  test('a folder without a crawl, or without refresh data, is an error', async () => {
    const folder = await newFolder()
    const none = await simulate('--from', folder)
    expect(none.code).toBe(1)
    expect(none.stderr).toBe(`KUMO_STORE_RESUME: ${folder} holds no crawl; check the path\n`)
    const { url } = await site(linkedPages(2))
    await new Crawler().seeds(url()).delay(0).robots(false).store(level(folder)).run()
    const plain = await simulate('--from', folder)
    expect(plain.code).toBe(1)
    expect(plain.stderr).toMatch(/^KUMO_STORE_MISMATCH: the crawl in .* has no refresh data/)
  })

  test.concurrent.each([
    [
      [],
      'nothing to simulate; pass a number of servers, as in: kumo simulate --servers 1000, or the folder of a crawl: kumo simulate --from ./crawl',
    ],
    [['./crawl'], "unexpected './crawl'; for the folder of a crawl write --from ./crawl"],
    [['--from', 'x', '--pages', '3'], '--from already describes the web; leave out --pages or --from'],
    [['--servers', '0'], "--servers: got '0'; allowed: a whole number, 1 to 5,000,000"],
    [['--servers', '9999', '--pages', '9999'], '--pages: 99,980,001 pages in all; allowed: 5,000,000'],
    [['--servers', '1', '--sockets', '2,,3'], "--sockets: got ''; allowed: a whole number, 1 to 1,000,000"],
    [['--servers', '1', '--sockets', '2.5'], "--sockets: got '2.5'; allowed: a whole number, 1 to 1,000,000"],
    [
      ['--servers', '1', '--change', '5'],
      "--change: got '5'; allowed: a time, such as 6h; a range, such as 1h..30d; or a median and a spread, such as 1d~1.5",
    ],
    [
      ['--servers', '1', '--download', '2s..1s'],
      "--download: got '2s..1s'; allowed: a time, such as 6h; a range, such as 1h..30d; or a median and a spread, such as 1d~1.5",
    ],
    [
      ['--servers', '1', '--delay', '5'],
      "--delay: got '5'; allowed: a number with a unit, such as 500ms, 5s, 2m, 1h, 1d",
    ],
    [['--servers', '1', '--days', '0'], "--days: got '0'; allowed: a number above 0"],
    [['--servers', '1', '--days', 'many'], "--days: got 'many'; allowed: a number from 0 to 3,650"],
    [['--servers', '1', '--aim', 'high'], "--aim: got 'high'; allowed: one of 'archive', 'fresh'"],
    [['--servers', '1', '--target', '1'], '--target: got 1; allowed: a number above 0 and below 1'],
    [['--servers', '1', '--min', '2d', '--max', '1d'], '--min: got 172800000; allowed: at most --max'],
    [['--servers', '1', '--sokets', '2'], 'unknown option --sokets; did you mean --sockets?'],
  ])('%j is rejected with a message', async (args, message) => {
    expect(await simulate(...args)).toEqual({
      code: 2,
      stdout: '',
      stderr: `kumo simulate: ${message}\nRun 'kumo simulate --help' for all options.\n`,
    })
  })

  test('a chart that cannot be written is an error before the simulation', async () => {
    const chart = join(await newFolder(), 'no', 'such', 'chart.svg')
    const { code, stdout, stderr } = await simulate(...FIGURES, '--svg', chart)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(`kumo simulate: --svg: cannot write '${chart}': `)
  })
})

test('help and docs/cli.md have every option, and no other; help fits the screen', async () => {
  const page = await readFile(join(PROJECT, 'docs/cli.md'), 'utf8')
  const section = page.split('\n## `kumo simulate`')[1]!.split('\n## ')[0]!
  const names = Object.keys(SIMULATE_OPTIONS).sort()
  const help = helpText('simulate')
  const inHelp = [...help.matchAll(/^ {2}(?:-\w, )?--([\w-]+)/gm)].map(([, name]) => name)
  const inDocs = [...section.matchAll(/^\| `--([\w-]+)/gm)].map(([, name]) => name)
  expect(inHelp.sort()).toEqual(names)
  expect([...inDocs, 'help'].sort()).toEqual(names)
  expect(help.split('\n').filter((line) => line.length > 80)).toEqual([])
})
