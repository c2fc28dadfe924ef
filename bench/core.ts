/**
 * The whole crawl on one host against its limit: undici fetching the same pages and doing nothing with them. Kumo
 * runs as it is published, server and contestants each in a process of their own, and the contestants take turns of a
 * second or two, so that a noisy moment of the machine hits all of them.
 */

import { once } from 'node:events'
import { startWeb } from '../test/loopback/web.js'
import { forkPlain } from './child.js'
import { type Bench, median } from './report.js'

const PAGES = 20_000
const CONCURRENCY = 64
/** The compiler needs two or three runs to settle. */
const WARM_UPS = 3
const TURNS = 9
const NAMES = ['request', 'kumo', 'level', 'dispatch'] as const

/** What a contestant is told once, at the start. */
export interface Contest {
  readonly name: (typeof NAMES)[number]
  readonly urls: readonly string[]
  readonly concurrency: number
}

/** What it answers after each turn. */
interface Round {
  readonly pagesPerSecond: number
  readonly cpuMsPerPage: number
}

export const core: Bench = async () => {
  const web = await startWeb({ hosts: 1, pagesPerHost: PAGES, linksPerPage: 60, bytes: 14 * 1024 })
  const urls = Array.from({ length: PAGES }, (_, page) => web.url(0, page))
  const contestants = NAMES.map((name) => {
    const child = forkPlain('contestant.mjs')
    // Two listeners are added for each turn, and stay.
    child.setMaxListeners(0)
    child.send({ name, urls, concurrency: CONCURRENCY } satisfies Contest)
    return { name, child, rounds: [] as Round[] }
  })
  for (let turn = 0; turn < WARM_UPS + TURNS; turn++) {
    for (const { child, rounds } of contestants) {
      child.send('run')
      const [round] = await Promise.race([once(child, 'message'), once(child, 'exit').then(died)])
      if (turn >= WARM_UPS) rounds.push(round)
    }
  }
  for (const { child } of contestants) child.disconnect()
  await web.close()

  const [request, kumo, level, dispatch] = contestants.map(({ rounds }) => rounds) as [
    Round[],
    Round[],
    Round[],
    Round[],
  ]
  const of = (rounds: Round[], what: keyof Round) => median(rounds.map((round) => round[what]))
  const ratio = (ours: Round[], rival: Round[], what: keyof Round) =>
    median(ours.map((round, turn) => round[what] / rival[turn]![what]))
  const against = (rival: Round[], what: keyof Round) => ratio(kumo, rival, what)
  return [
    { what: 'raw undici.request', value: of(request, 'pagesPerSecond'), unit: 'pages/s' },
    { what: 'raw undici dispatch', value: of(dispatch, 'pagesPerSecond'), unit: 'pages/s' },
    { what: 'kumo', value: of(kumo, 'pagesPerSecond'), unit: 'pages/s' },
    { what: 'raw undici.request, CPU', value: 1000 * of(request, 'cpuMsPerPage'), unit: 'µs/page' },
    { what: 'raw undici dispatch, CPU', value: 1000 * of(dispatch, 'cpuMsPerPage'), unit: 'µs/page' },
    { what: 'kumo, CPU', value: 1000 * of(kumo, 'cpuMsPerPage'), unit: 'µs/page' },
    {
      what: 'pages/s ÷ undici.request',
      value: against(request, 'pagesPerSecond'),
      unit: '',
      bar: { atLeast: 0.6 },
    },
    { what: 'CPU ÷ undici.request', value: against(request, 'cpuMsPerPage'), unit: '', bar: { atMost: 1.8 } },
    { what: 'kumo on disk', value: of(level, 'pagesPerSecond'), unit: 'pages/s' },
    { what: 'kumo on disk, CPU', value: 1000 * of(level, 'cpuMsPerPage'), unit: 'µs/page' },
    {
      what: 'pages/s on disk ÷ in memory',
      value: ratio(level, kumo, 'pagesPerSecond'),
      unit: '',
      bar: { atLeast: 0.75 },
    },
    { what: 'pages/s ÷ undici dispatch', value: against(dispatch, 'pagesPerSecond'), unit: '' },
    { what: 'CPU ÷ undici dispatch', value: against(dispatch, 'cpuMsPerPage'), unit: '' },
  ]
}

function died(): never {
  throw new Error('a contestant of the core bench ended before it was told to')
}
