import type { Failure, Summary } from 'kumo'
import { describe, expect, test } from 'vitest'
import { type SummaryDetails, summaryLines } from '../../../src/cli/crawl/summary.js'

const done = {
  reason: 'done',
  pages: 120,
  hostsVisited: 1,
  bytes: 1_600_000,
  elapsedMs: 125_000,
  pagesPerSecond: 0.96,
  earlierRuns: 0,
  skips: {},
  skipped: 0,
  failures: {},
  failed: 0,
  pending: 0,
  inFlight: 0,
} as unknown as Summary

function lines(summary: Partial<Summary>, details: Partial<SummaryDetails> = {}): string[] {
  const plain = { examples: new Map<string, Failure>(), command: undefined, pageLimit: undefined, width: 80 }
  return summaryLines({ ...done, ...summary }, { ...plain, ...details })
}

describe('the summary', () => {
  test('of a crawl without failures is one line', () => {
    expect(lines({})).toEqual(['Done: 120 pages; 1 host visited, 1.6 MB, 2 min 5 s (1.0 pages/s).'])
  })

  test('says that no page was fetched', () => {
    const [first] = lines({
      pages: 0,
      pagesPerSecond: 0,
      bytes: 0,
      elapsedMs: 90,
      failed: 1,
      failures: { timeout: 1 },
    })
    expect(first).toBe('Done: no pages; 1 host visited, 0 bytes, 0.1 s.')
  })

  test('counts runs where there were several', () => {
    expect(lines({ earlierRuns: 2 })[0]).toMatch(/^Done: 120 pages in 3 runs; /)
  })

  test('says that the crawl was already done', () => {
    const printed = lines({ reason: 'already-done', earlierRuns: 1 })
    expect(printed[0]).toMatch(/^Already done: 120 pages in 2 runs; /)
    expect(printed.join(' ')).toContain(
      'No URL was pending and none was new. Use another folder to crawl again from the start.',
    )
  })

  test('lists skip reasons, and failures by code with an example of each', () => {
    const message = `${'a'.repeat(80)}\x1b`
    const examples = new Map([['timeout', { message } as Failure]])
    const printed = lines(
      {
        skips: { robots: 2, scope: 1204 },
        skipped: 1206,
        failures: { timeout: 1, 'http-status': 2 },
        failed: 3,
      },
      { examples },
    )
    expect(printed.slice(1)).toEqual([
      'Skipped: scope 1,204, robots 2.',
      '3 failed:',
      '  2  http-status',
      `  1  timeout      ${'a'.repeat(61)}…`,
    ])
  })

  test('without a store suggests --store', () => {
    expect(lines({ reason: 'stopped', pending: 1 }).slice(1)).toEqual([
      '1 URL still pending. Use --store DIR to be able to resume a crawl.',
    ])
  })

  test('with a store prints the command that resumes; requests in flight count as pending', () => {
    const command = () => 'kumo crawl https://example.com/ --store crawl'
    expect(lines({ reason: 'stopped', pending: 78, inFlight: 2 }, { command }).slice(1)).toEqual([
      '80 URLs still pending. To resume:',
      `  ${command()}`,
    ])
  })

  test('suggests a higher --limit only if the page limit was reached', () => {
    const limited = { reason: 'limit', pending: 80 } as const
    const command = (limit = 120) => `kumo crawl --limit ${limit}`
    expect(lines(limited, { command, pageLimit: 120 }).slice(1)).toEqual([
      '80 URLs still pending. To resume with a higher limit:',
      '  kumo crawl --limit 240',
    ])
    expect(lines(limited, { command, pageLimit: 200 }).slice(1)).toEqual([
      '80 URLs still pending. To resume:',
      '  kumo crawl --limit 120',
    ])
  })

  test('says what to do if robots.txt disallows what was given, but not if there are pages', () => {
    const skipped = { skips: { robots: 1 }, skipped: 1 }
    expect(lines({ ...skipped, pages: 0, pagesPerSecond: 0 }).join(' ')).toContain('--no-robots')
    expect(lines(skipped).join(' ')).not.toContain('--no-robots')
  })
})
