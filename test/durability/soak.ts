/**
 * The kill rounds for as long as one likes: `npm run soak`, or `npm run soak -- --rounds 50 --seed 7`. It ends with a
 * table of figures, and with code 1 if a promise was broken. `npm run soak -- --ends 500` is the storm of ends instead, and
 * `npm run soak -- cluster` what several processes do when they or their Redis fail.
 */

import { parseArgs } from 'node:util'
import { seededRandom } from 'kumo/adapters'
import { soakClusters } from '../cluster/soak.js'
import { killRounds } from './kill-rounds.js'
import { quickSite, restingSite, type Site } from './sites.js'
import { storm } from './storm.js'
import type { Verdict } from './verdict.js'

if (process.argv[2] === 'cluster') process.exit((await soakClusters(process.argv.slice(3))) ? 0 : 1)

const SITES: readonly Site[] = [quickSite, restingSite]
/** The sites take turns of so many kills. */
const TURN = 25
const LINE_EVERY = 10
/** The first few findings of a crawl say what is wrong; thousands more say the same. */
const FINDINGS_SHOWN = 5

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '200' },
    ends: { type: 'string' },
    seed: { type: 'string' },
  },
})
const rounds = wholeNumber('rounds', values.rounds)
const seed = values.seed === undefined ? Math.floor(Math.random() * 1e6) : wholeNumber('seed', values.seed)
const random = seededRandom(seed)
const began = performance.now()

if (values.ends !== undefined) await endInStorm(wholeNumber('ends', values.ends))

const verdicts = new Map<Site, Verdict[]>(SITES.map((site) => [site, []]))

console.log(`${rounds} kills, seed ${seed}`)
for (let kills = 0, turn = 0; kills < rounds; kills += TURN, turn++) {
  const site = SITES[turn % SITES.length]!
  const onKill = (here: number, pagesServed: number) => {
    if ((kills + here) % LINE_EVERY !== 0) return
    const seconds = Math.round((performance.now() - began) / 1000)
    console.log(`${kills + here} kills after ${seconds} s · ${site.name} site · ${pagesServed} pages served`)
  }
  const judged = await killRounds({ site, kills: Math.min(TURN, rounds - kills), random, onKill })
  verdicts.get(site)!.push(...judged)
  for (const { findings } of judged) {
    for (const finding of findings.slice(0, FINDINGS_SHOWN)) console.log(`  ${finding}`)
    if (findings.length > FINDINGS_SHOWN) console.log(`  and ${findings.length - FINDINGS_SHOWN} more`)
  }
}
printTable()
const wrong = [...verdicts.values()].flat().reduce((sum, { findings }) => sum + findings.length, 0)
console.log(wrong === 0 ? 'Every promise was kept.' : `${wrong} findings; replay with --seed ${seed}`)
process.exitCode = wrong === 0 ? 0 : 1

/** Ends this process too. */
async function endInStorm(ends: number): Promise<never> {
  console.log(`${ends} ends, seed ${seed}`)
  const onLine = (line: string) =>
    console.log(`${line} after ${Math.round((performance.now() - began) / 1000)} s`)
  const { counts, code, signal, complaints } = await storm({ ends, seed, onLine })
  for (const [kind, count] of Object.entries(counts)) console.log(`  ${kind.padEnd(44)}${count}`)
  console.log(code === 0 ? 'The process survived.' : `The process ended with ${code ?? signal}.`)
  if (complaints !== '') console.log(complaints)
  process.exit(code === 0 ? 0 : 1)
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 1) {
    console.error(`--${name}: got '${text}'; allowed: a whole number from 1`)
    process.exit(1)
  }
  return number
}

function printTable(): void {
  const used = SITES.filter((site) => verdicts.get(site)!.length > 0)
  const row = (what: string, figure: (judged: readonly Verdict[], site: Site) => string) => {
    const cells = used.map((site) => figure(verdicts.get(site)!, site).padStart(12))
    console.log(`  ${what.padEnd(44)}${cells.join('')}`)
  }
  const sum = (of: (verdict: Verdict) => number) => (judged: readonly Verdict[]) =>
    judged.reduce((total, verdict) => total + of(verdict), 0).toLocaleString('en')
  const restarts = (judged: readonly Verdict[]) =>
    judged.flatMap(({ restartsMs }) => restartsMs).sort((a, b) => a - b)

  console.log('')
  row('site', (_, { name }) => name)
  row('crawls', (judged) => String(judged.length))
  row(
    'kills',
    sum(({ kills }) => kills),
  )
  row(
    'pages',
    sum(({ wanted }) => wanted),
  )
  row(
    'served at least once',
    sum(({ served }) => served),
  )
  row(
    'repeats',
    sum(({ repeats }) => repeats),
  )
  row(
    'bound: in flight or not committed',
    sum(({ excusable }) => excusable),
  )
  row('oldest repeat before its kill, ms', (judged) =>
    ms(Math.max(...judged.map((each) => each.oldestRepeatMs))),
  )
  row(
    'repeats excused by a busy program only',
    sum(({ lateRepeats }) => lateRepeats),
  )
  row('rests that a restart fell into', (judged, { delayMs }) => {
    return delayMs === 0 ? '–' : sum(({ restsAcrossRestarts }) => restsAcrossRestarts)(judged)
  })
  row('shortest gap ÷ delay', (judged, { delayMs }) => {
    const shortest = Math.min(...judged.map(({ shortestGapMs }) => shortestGapMs))
    return delayMs === 0 ? '–' : (shortest / delayMs).toFixed(3)
  })
  row('restart to first request, median, ms', (judged) => ms(restarts(judged)[restarts(judged).length >> 1]))
  row('restart to first request, longest, ms', (judged) => ms(restarts(judged).at(-1)))
}

function ms(value: number | undefined): string {
  return value === undefined ? '–' : String(Math.round(value))
}
