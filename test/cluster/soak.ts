/**
 * Every fault with many seeds: `npm run soak -- cluster`, or `npm run soak -- cluster --seeds 3 --only sentinel`. It ends
 * with a table, and with code 1 if a promise was broken. `--at-once` says how many clusters run at the same time, `--workers` how many threads
 * each process has.
 */

import { parseArgs } from 'node:util'
import { seededRandom } from 'kumo/adapters'
import { whyNoRedis } from '../stores/redis/server.js'
import { FAULTS, type Fault } from './faults.js'
import { type Judged, judgeFault } from './judge.js'
import { simulate } from './simulation.js'

const SIMULATIONS = 1000

export async function soakClusters(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '20' },
      from: { type: 'string', default: '1' },
      'at-once': { type: 'string', default: '2' },
      only: { type: 'string', default: '' },
      workers: { type: 'string' },
      timed: { type: 'boolean', default: true },
      simulations: { type: 'boolean', default: true },
    },
    allowNegative: true,
  })
  const why = whyNoRedis()
  if (why !== undefined) {
    console.error(why)
    return false
  }
  const [seeds, from, atOnce] = [values.seeds, values.from, values['at-once']].map(Number)
  const threads = values.workers === undefined ? {} : { workers: Number(values.workers) }
  const faults = FAULTS.filter(({ name }) => name.toLowerCase().includes(values.only!.toLowerCase())).map(
    (fault): Fault => ({ ...fault, options: { ...fault.options, ...threads } }),
  )
  const judged = new Map<Fault, Judged[]>(faults.map((fault) => [fault, []]))
  const findings: string[] = []
  // A fault after the other, so that what runs at the same time differs.
  const waiting = Array.from({ length: seeds! }, (_, i) => from! + i).flatMap((seed) =>
    faults.map((fault) => ({ fault, seed })),
  )
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { fault, seed } = next
      const result = await judgeFault(fault, seededRandom(seed), values.timed!).catch((error): Judged => {
        const nothing = { missing: 0, overlaps: 0, belowGap: 0, repeats: 0, allowedRepeats: 0, isCalm: true }
        return { ...nothing, takeoverMs: undefined, leftMs: undefined, findings: [`${fault.name}: ${error}`] }
      })
      judged.get(fault)!.push(result)
      console.log(describe(fault, seed, result))
      findings.push(...result.findings.map((finding) => `seed ${seed}: ${finding}`))
    }
  }
  await Promise.all(Array.from({ length: atOnce! }, worker))
  printTable(judged)
  if (values.only === '' && values.simulations) findings.push(...(await simulateAll()))
  console.log(findings.length === 0 ? 'Every promise was kept.' : `${findings.length} findings.`)
  return findings.length === 0
}

/** A line for each crawl, so that one that runs for hours can be watched. */
function describe({ name }: Fault, seed: number, judged: Judged): string {
  const { repeats, allowedRepeats, takeoverMs, leftMs, isCalm, findings } = judged
  const slowest = takeoverMs ?? leftMs
  const parts = [`${repeats} repeats of ${allowedRepeats}`]
  if (slowest !== undefined) parts.push(`${(slowest / 1000).toFixed(1)} s`)
  if (!isCalm) parts.push('not calm')
  return [`${name}, seed ${seed}: ${parts.join(', ')}`, ...findings].join('\n  FOUND ')
}

async function simulateAll(): Promise<string[]> {
  const found: string[] = []
  for (let seed = 1; seed <= SIMULATIONS; seed++) {
    const { findings, faults } = await simulate(seed)
    for (const finding of findings) found.push(`simulation ${seed} (${faults.join(', ')}): ${finding}`)
  }
  console.log(`${SIMULATIONS} simulations, ${found.length} findings`)
  for (const finding of found) console.log(finding)
  return found
}

function printTable(judged: ReadonlyMap<Fault, readonly Judged[]>): void {
  const heads = ['fault', 'seeds', 'missing', 'overlaps', 'too soon', 'repeats (most, allowed)', 'slowest']
  const rows = [...judged].map(([{ name }, all]) => {
    const sum = (of: (one: Judged) => number) => String(all.reduce((total, one) => total + of(one), 0))
    const calm = all.filter(({ isCalm }) => isCalm)
    const most = calm.reduce((a, b) => (b.repeats > a.repeats ? b : a), calm[0]!)
    const times = all.flatMap(({ takeoverMs, leftMs }) => takeoverMs ?? leftMs ?? [])
    return [
      name,
      calm.length === all.length ? String(all.length) : `${all.length} (${calm.length} calm)`,
      sum(({ missing }) => missing),
      sum(({ overlaps }) => overlaps),
      sum(({ belowGap }) => belowGap),
      `${most?.repeats ?? 0}, ${most?.allowedRepeats ?? 0}`,
      times.length > 0 ? `${(Math.max(...times) / 1000).toFixed(1)} s` : '',
    ]
  })
  console.log(`| ${heads.join(' | ')} |\n|${heads.map(() => '---|').join('')}`)
  for (const row of rows) console.log(`| ${row.join(' | ')} |`)
}
