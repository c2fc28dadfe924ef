/**
 * Killed without warning again and again, a crawl with a store on disk loses nothing, repeats next to nothing and stays
 * polite. The server's log says so. `npm run soak` does the same for longer.
 */

import { describe, expect, test } from 'vitest'
import { isThorough } from '../thorough.js'
import { crawlSite } from './crawl-site.js'
import { afterFirstRequest } from './interrupted-crawl.js'
import { killRounds } from './kill-rounds.js'
import type { Run } from './run.js'
import { quickSite, restingSite } from './sites.js'
import { freshCrawl, moments } from './support.js'
import type { Verdict } from './verdict.js'

/** The first few findings say what is wrong; thousands more say the same. */
const findingsOf = (verdicts: readonly Verdict[]) => verdicts.flatMap(({ findings }) => findings.slice(0, 5))
type Count = 'kills' | 'served' | 'repeats' | 'excusable' | 'restsAcrossRestarts'
const sumOf = (verdicts: readonly Verdict[], figure: Count) =>
  verdicts.reduce((sum, verdict) => sum + verdict[figure], 0)

describe('a crawl that is killed', () => {
  const kills = isThorough ? 20 : 3
  const pagesPerHost = isThorough ? quickSite.pagesPerHost : 31
  const fewer = isThorough ? 6 : 3

  test(`${kills} kills: every page is served, and only what was in flight or not committed is asked for again`, async () => {
    const site = { ...quickSite, pagesPerHost }
    const verdicts = await killRounds({ site, kills, random: moments() })
    expect(findingsOf(verdicts)).toEqual([])
    expect(sumOf(verdicts, 'kills')).toBe(kills)
    expect(sumOf(verdicts, 'served')).toBeGreaterThanOrEqual(site.hosts * (pagesPerHost - 1))
    expect(sumOf(verdicts, 'repeats')).toBeLessThanOrEqual(sumOf(verdicts, 'excusable'))
    // Otherwise the kills hit nothing, and the test proves nothing.
    expect(sumOf(verdicts, 'repeats')).toBeGreaterThan(0)
  })

  test(`${fewer} kills: a host that wants to rest can, whether or not the crawler lives to see it`, async () => {
    const site = { ...restingSite, hosts: isThorough ? 300 : 100, pagesPerHost: isThorough ? 7 : 5 }
    const verdicts = await killRounds({ site, kills: fewer, random: moments() })
    expect(findingsOf(verdicts)).toEqual([])
    expect(Math.min(...verdicts.map((each) => each.shortestGapMs))).toBeGreaterThanOrEqual(site.delayMs - 1)
    // Otherwise the restarts took longer than the rests, and the test proves nothing.
    expect(sumOf(verdicts, 'restsAcrossRestarts')).toBeGreaterThan(site.hosts / 2)
  })

  test('2 kills: the same holds where commits wait for the disk', async () => {
    const site = { ...quickSite, pagesPerHost: isThorough ? 31 : 16 }
    const level = { durability: 'machine' } as const
    const verdicts = await killRounds({ site, kills: 2, random: moments(), level })
    expect(findingsOf(verdicts)).toEqual([])
  })

  test(`${fewer} kills: the same holds for three threads that share a store, and links that were on their way`, async () => {
    const site = { ...quickSite, pagesPerHost: isThorough ? 31 : 21 }
    const verdicts = await killRounds({ site, kills: fewer, random: moments(), workers: 3 })
    expect(findingsOf(verdicts)).toEqual([])
    expect(sumOf(verdicts, 'repeats')).toBeLessThanOrEqual(sumOf(verdicts, 'excusable'))
  })

  test('a store that forgets is found out', async () => {
    const findings = await forgetting([15_000, 60_000, 240_000])
    expect(findings).toContainEqual(expect.stringMatching(/had its answer \d+ ms before it was killed$/))
    expect(findings).toContainEqual(expect.stringMatching(/not \d+, across a restart$/))
  })
})

/** What is found with the shortest of these delays that is longer than a busy machine takes to start the program again. */
async function forgetting([delayMs, ...longer]: readonly number[]): Promise<readonly string[]> {
  const crawl = await freshCrawl({ ...restingSite, hosts: 20, pagesPerHost: 2, delayMs: delayMs! })
  const kill = { signal: 'SIGKILL', moment: afterFirstRequest(crawl.web, 800) } as const
  const next = (runs: readonly Run[]) => (runs.length === 0 ? kill : undefined)
  const { verdict } = await crawlSite({ ...crawl, next, forgetful: true })
  const isTooSlow = Math.max(...verdict.restartsMs) > delayMs! / 2
  return isTooSlow && longer.length > 0 ? forgetting(longer) : verdict.findings
}
