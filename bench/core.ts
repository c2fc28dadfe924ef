/**
 * The whole crawl on one host against its limit: undici fetching the same pages and doing nothing with them. Kumo
 * runs as it is published, server and contestants each in a process of their own, and the contestants take turns so
 * that a noisy moment hits all of them.
 */

import { startWeb } from '../test/loopback/web.js'
import { runTypeScript } from './child.js'
import type { Round } from './contestant.js'
import { type Bench, median } from './report.js'

const PAGES = 20_000
const CONCURRENCY = 64
const TURNS = 3
const CONTESTANTS = ['request', 'kumo', 'dispatch'] as const

export const core: Bench = async () => {
  const web = await startWeb({ hosts: 1, pagesPerHost: PAGES, linksPerPage: 60, bytes: 14 * 1024 })
  const origin = web.url(0).slice(0, -1)
  const rounds: Record<string, Round[]> = { request: [], kumo: [], dispatch: [] }
  for (let turn = 0; turn < TURNS; turn++) {
    for (const name of CONTESTANTS) {
      const line = await runTypeScript('contestant.ts', [name, origin, String(PAGES), String(CONCURRENCY)])
      rounds[name]!.push(JSON.parse(line))
    }
  }
  await web.close()
  const of = (name: string, what: keyof Round) => median(rounds[name]!.map((round) => round[what]))
  const against = (rival: string, what: keyof Round) =>
    median(rounds.kumo!.map((round, turn) => round[what] / rounds[rival]![turn]![what]))
  return [
    { what: 'raw undici.request', value: of('request', 'pagesPerSecond'), unit: 'pages/s' },
    { what: 'raw undici dispatch', value: of('dispatch', 'pagesPerSecond'), unit: 'pages/s' },
    { what: 'kumo', value: of('kumo', 'pagesPerSecond'), unit: 'pages/s' },
    { what: 'raw undici.request, CPU', value: 1000 * of('request', 'cpuMsPerPage'), unit: 'µs/page' },
    { what: 'raw undici dispatch, CPU', value: 1000 * of('dispatch', 'cpuMsPerPage'), unit: 'µs/page' },
    { what: 'kumo, CPU', value: 1000 * of('kumo', 'cpuMsPerPage'), unit: 'µs/page' },
    {
      what: 'pages/s ÷ undici.request',
      value: against('request', 'pagesPerSecond'),
      unit: '',
      bar: { atLeast: 0.6 },
    },
    {
      what: 'CPU ÷ undici.request',
      value: against('request', 'cpuMsPerPage'),
      unit: '',
      bar: { atMost: 1.8 },
    },
    { what: 'pages/s ÷ undici dispatch', value: against('dispatch', 'pagesPerSecond'), unit: '' },
    { what: 'CPU ÷ undici dispatch', value: against('dispatch', 'cpuMsPerPage'), unit: '' },
  ]
}
