/** The judge must be trustworthy before it may judge: what is innocent passes, and each kind of offence is named. */

import { describe, expect, test } from 'vitest'
import type { WebRequest } from '../loopback/web.js'
import { Pulse } from './pulse.js'
import type { Run } from './run.js'
import { type Evidence, SLACK_MS, type Verdict, verdictOf } from './verdict.js'

const COMMIT_MS = 100
const DELAY_MS = 50
const URL_A = 'http://a.example/'
const URL_B = 'http://a.example/b'
const ROBOTS = 'http://a.example/robots.txt'
const BEAT_MS = 10

function everyMs(ms: number): number[] {
  return Array.from({ length: 2000 / ms }, (_, beat) => beat * ms)
}

/** Two runs, the first of which is killed at 1000; the second starts at 1010, makes requests from 1060 on, and ends. */
const killed: Run = {
  startedAt: 0,
  interruptedAt: 1000,
  killed: true,
  ending: undefined,
  pulse: new Pulse(everyMs(BEAT_MS), BEAT_MS),
  complaints: '',
}
const last: Run = {
  startedAt: 1010,
  interruptedAt: undefined,
  killed: false,
  ending: { reason: 'done', pages: 2, earlierRuns: 1 },
  pulse: new Pulse(everyMs(BEAT_MS), BEAT_MS),
  complaints: '',
}
const stopped: Run = { ...killed, killed: false, ending: { reason: 'stopped', pages: 1, earlierRuns: 0 } }

/** A request that took 10 ms. */
const asked = (url: string | undefined, start: number, more: Partial<WebRequest> = {}): WebRequest => {
  return { host: 0, url, start, end: start + 10, answered: true, ...more }
}

function judge(requests: readonly WebRequest[], more: Partial<Evidence> = {}): Verdict {
  return verdictOf({
    requests,
    runs: [killed, last],
    wanted: undefined,
    forbidden: new Set(['http://a.example/closed']),
    delayMs: DELAY_MS,
    commitMs: COMMIT_MS,
    ...more,
  })
}

describe('nothing is found', () => {
  test.each<[string, readonly WebRequest[], Partial<Evidence>?]>([
    ['where nothing was repeated', [asked(URL_A, 500), asked(URL_B, 1500)]],
    ['where a kill caught the request in flight', [asked(URL_A, 995), asked(URL_A, 1500)]],
    [
      'where a kill caught it before it was answered',
      [asked(URL_A, 995, { answered: false }), asked(URL_A, 1500)],
    ],
    ['where it was answered just before', [asked(URL_A, 1000 - COMMIT_MS), asked(URL_A, 1500)]],
    [
      'where the program had no time to commit it',
      [asked(URL_A, 500), asked(URL_A, 1500)],
      { runs: [{ ...killed, pulse: new Pulse([0, 500, 990], BEAT_MS) }, last] },
    ],
    ['where robots.txt was in flight', [asked(ROBOTS, 999), asked(ROBOTS, 1500)]],
    ['where the server read it after the kill', [asked(URL_A, 1005, { end: 1020 }), asked(URL_A, 1500)]],
    [
      'where all pages were served',
      [asked(URL_A, 500), asked(URL_B, 1500)],
      { wanted: new Set([URL_A, URL_B]) },
    ],
    ['where hosts are visited at once', [asked(URL_A, 500), asked('http://b.example/', 501, { host: 1 })]],
  ])('%s', (_, requests, more) => expect(judge(requests, more).findings).toEqual([]))
})

describe('it is found', () => {
  const long = 1000 - COMMIT_MS - SLACK_MS - 11
  test.each<[string, RegExp, readonly WebRequest[], Partial<Evidence>?]>([
    [
      'that a committed page is fetched again',
      /had its answer 201 ms before/,
      [asked(URL_A, long), asked(URL_A, 1500)],
    ],
    [
      'that it is, though the program was now and then busy',
      /had its answer 490 ms before/,
      [asked(URL_A, 500), asked(URL_A, 1500)],
      { runs: [{ ...killed, pulse: new Pulse(everyMs(50), BEAT_MS) }, last] },
    ],
    ['that robots.txt is', /robots.txt was asked for again/, [asked(ROBOTS, 300), asked(ROBOTS, 1500)]],
    ['that a run repeats itself', /twice by run 0/, [asked(URL_A, 900), asked(URL_A, 990)]],
    [
      'that a clean end repeats',
      /though run 0 was not killed/,
      [asked(URL_A, 995), asked(URL_A, 1500)],
      { runs: [stopped, last] },
    ],
    [
      'that a page is missing',
      /\/b was never served/,
      [asked(URL_A, 500)],
      { wanted: new Set([URL_A, URL_B]) },
    ],
    [
      'that a page was asked for in vain',
      /\/b was never served/,
      [asked(URL_A, 500), asked(URL_B, 995, { answered: false })],
      { wanted: new Set([URL_A, URL_B]) },
    ],
    ['that robots.txt was not heeded', /robots.txt forbids it/, [asked('http://a.example/closed', 500)]],
    ['that something else was asked for', /does not have/, [asked(undefined, 500)]],
    [
      'that a pause was too short',
      /49.0 ms after the visit before, not 50$/,
      [asked(URL_A, 500), asked(URL_B, 559)],
    ],
    [
      'that it was too short across a restart',
      /48.0 ms .* across a restart/,
      [asked(URL_A, 1010), asked(URL_B, 1068)],
    ],
    ['that visits overlap', /while its host was busy/, [asked(URL_A, 500), asked(URL_B, 505)]],
    [
      'that visits overlap with an earlier one',
      /while its host was busy/,
      [asked(URL_A, 500, { end: 900 }), asked(URL_B, 600), asked(`${URL_B}2`, 700)],
    ],
    [
      'that the store complained',
      /paused: disk full/,
      [],
      { runs: [{ ...last, complaints: 'paused: disk full\n' }] },
    ],
  ])('%s', (_, finding, requests, more) => {
    // A repeat that cannot be excused is also one too many for its run.
    const findings = judge(requests, more).findings.filter((each) => !each.endsWith('can be excused'))
    expect(findings.length).toBeGreaterThan(0)
    for (const each of findings) expect(each).toMatch(finding)
  })
})

test('the figures', () => {
  const requests = [
    asked(ROBOTS, 100),
    asked(URL_A, 500),
    asked(URL_B, 940),
    asked(URL_B, 1070),
    asked(`${URL_B}2`, 1200),
  ]
  const { findings: _, ...figures } = judge(requests, { wanted: new Set([URL_A, URL_B]) })
  expect(figures).toEqual({
    kills: 1,
    wanted: 2,
    served: 2,
    repeats: 1,
    excusable: 1,
    oldestRepeatMs: 50,
    lateRepeats: 0,
    restsAcrossRestarts: 0,
    shortestGapMs: 120,
    shortestGapAcrossRestartsMs: 120,
    restartsMs: [60],
  })
  const starved: Run = { ...killed, pulse: new Pulse([0, 500, 990], BEAT_MS) }
  expect(judge([asked(URL_A, 500), asked(URL_A, 1500)], { runs: [starved, last] }).lateRepeats).toBe(1)
  expect(judge(requests, { delayMs: 80 }).restsAcrossRestarts).toBe(1)
})
