/** `kumo simulate feeds` in its own process. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SIMULATE_FEEDS } from '../../../src/cli/help.js'
import { pollRules } from '../../../src/feeds/schedule/rules.js'
import { describeFeeds, simulateFeeds } from '../../../src/sim/index.js'
import { runProgram } from '../../run-program.js'

const simulate = (...args: string[]) => runProgram('src/cli/main.ts', ['simulate', 'feeds', ...args])

describe('kumo simulate feeds', () => {
  test.concurrent('--json prints what the library forecasts for the same figures', async () => {
    const { code, stdout, stderr } = await simulate(
      ...[
        '--feeds',
        '50',
        '--days',
        '20',
        '--window',
        '5',
        '--min',
        '6h',
        '--budget',
        '10/day,40/day',
        '--json',
      ],
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const world = describeFeeds({ feeds: 50, days: 20, window: 5 })
    const rules = pollRules({ budget: '40/day', min: '6h' })
    const { polls, days, lost, articles } = simulateFeeds(world, { rules, learnDays: 20 / 3 })
    expect(rows).toHaveLength(2)
    expect(rows[1]).toMatchObject({
      feeds: 50,
      pollsPerDay: polls / days,
      lostPerDay: lost / days,
      articlesPerDay: articles / days,
    })
  })

  test('a handful of feeds is not rounded to nothing', async () => {
    const args = ['--feeds', '2', '--per-day', '0.2', '--silent', '0', '--days', '100', '--budget', '0.5/day']
    const { code, stdout } = await simulate(...args)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^ +0\.\d+ +\d\.\d+ /m)
    expect(stdout).not.toMatch(/: 0 polls\/day/)
  })

  test('a history, with a chart', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kumo-simulate-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const lines = Array.from(
      { length: 200 },
      (_, n) => `feed-${n % 4},${new Date(1.7e12 + n * 7_200_000).toISOString()}`,
    )
    await writeFile(join(folder, 'posts.csv'), `feed,time\n${lines.join('\n')}\n`)
    const svg = join(folder, 'front.svg')
    const { code, stdout, stderr } = await simulate(
      '--history',
      join(folder, 'posts.csv'),
      '--lost',
      '5%',
      '--min',
      '1h',
      '--svg',
      svg,
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/polls\/day +articles\/day +lost\/day/)
    expect(stdout).toMatch(/to lose almost none: /)
    expect(await readFile(svg, 'utf8')).toMatch(/Lost articles/)
  })

  test.concurrent.each([
    [[], /nothing to simulate/],
    [['--feeds', '0'], /--feeds: got '0'/],
    [['--feeds', '10', '--budget', 'many'], /--budget: got 'many'/],
    [['--feeds', '10', '--budget', '5/day', '--lost', '1%'], /not both/],
    [['--feeds', '10', '--history', 'x.csv'], /leave out --history/],
    [['--history', '/nowhere/x.csv'], /--history: cannot read/],
    [['posts.csv'], /--history posts\.csv/],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await simulate(...args)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  test.concurrent('--help names every option within 80 columns', async () => {
    const { code, stdout } = await simulate('--help')
    expect({ code, stdout }).toEqual({ code: 0, stdout: SIMULATE_FEEDS })
    for (const line of SIMULATE_FEEDS.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  })
})
