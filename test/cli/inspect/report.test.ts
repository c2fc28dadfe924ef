import type { Inspection } from 'kumo'
import { describe, expect, test } from 'vitest'
import { reportLines } from '../../../src/cli/inspect/report.js'

const NOW = 1_735_787_045_678

const inspection: Inspection = {
  path: '/home/me/crawl',
  format: 1,
  state: 'stopped',
  inUse: false,
  runs: 3,
  startedAt: NOW - 86_400_000,
  lastCommitAt: NOW - 125_000,
  bytesOnDisk: 12_345_678,
  known: 100_000,
  pending: 87_000,
  pages: 12_345,
  bytes: 160_000_000,
  failed: 120,
  failures: { timeout: 20, 'http-status': 100 },
  skips: { scope: 1204 },
  statuses: { 200: 12_345, 404: 100 },
  hosts: {
    total: 512,
    withMostPending: [
      { host: 'example.com', pending: 50_000, notBefore: NOW + 12_000, incidents: 3 },
      { host: 'other.example', pending: 900, notBefore: NOW - 1 },
    ],
  },
  recentFailures: [
    {
      url: `https://example.com/${'long/'.repeat(20)}`,
      code: 'http-status',
      message: 'example.com answered with status 404',
      status: 404,
      attempt: 0,
      at: NOW - 1000,
    },
    { url: 'https://slow.example/', code: 'timeout', message: 'no\x1b answer', attempt: 2, at: NOW - 2000 },
  ],
}

const lines = (more: Partial<Inspection> = {}) =>
  reportLines({ ...inspection, ...more }, { now: NOW, width: 80 })

describe('the report', () => {
  test('shows everything', () => {
    expect(lines().join('\n')).toBe(`crawl       /home/me/crawl
state       stopped
runs        3, first started 2025-01-01 03:04:05 UTC
last write  2025-01-02 03:02:00 UTC, 2 min 5 s ago
on disk     12 MB, format 1
pages       12,345, 160 MB of bodies
pending     87,000 URLs of 100,000 known
failed      120 URLs

Responses by status
  12,345  200
     100  404

Failures by code
  100  http-status
   20  timeout

Skipped by reason
  1,204  scope

Hosts with the most pending URLs (2 of 512)
  50,000  example.com  (paused for 12.0 s, 3 incidents in a row)
     900  other.example

Recent failures
  2025-01-02 03:04:04 UTC  http-status 404
    https://example.com/${'long/'.repeat(20)}
    example.com answered with status 404
  2025-01-02 03:04:03 UTC  timeout, attempt 3
    https://slow.example/
    no� answer`)
  })

  test('fits in 80 columns, except URLs, which are there to be copied', () => {
    const host = `${'sub.'.repeat(50)}example`
    const wide = lines({ hosts: { total: 1, withMostPending: [{ host, pending: 1 }] } })
    expect(wide.filter((line) => line.length > 80 && !line.includes('https://'))).toEqual([])
  })

  test('of a crawl that has just started omits empty sections', () => {
    const nothing = { failures: {}, skips: {}, statuses: {}, recentFailures: [] }
    expect(lines({ ...nothing, hosts: { total: 0, withMostPending: [] } })).toHaveLength(8)
  })

  test.each<[state: Inspection['state'], inUse: boolean, printed: string]>([
    ['done', false, 'done'],
    ['crashed or running', true, 'running (open in another process)'],
    ['crashed or running', false, 'crashed; the next run resumes from the last write'],
  ])('%s, in use: %j', (state, inUse, printed) => {
    expect(lines({ state, inUse })[1]).toBe(`state       ${printed}`)
  })
})
