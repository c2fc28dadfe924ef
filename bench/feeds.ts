/** Reading feeds, beside the packages that most programs use for it, in the same run: what it costs. */

import { parseFeed } from '../src/feeds/index.js'
import { RIVALS } from './feeds-rivals.js'
import { atomSample, jsonSample, rssSample } from './feeds-samples.js'
import type { Bench, Figure } from './report.js'
import { median } from './report.js'

const ROUNDS = 9
const FEEDS_A_ROUND = 60

export const feeds: Bench = async () => {
  const samples = { RSS: rssSample(), Atom: atomSample(), 'JSON Feed': jsonSample() }
  const figures: Figure[] = []
  for (const [format, text] of Object.entries(samples)) figures.push(...(await timeFigures(format, text)))
  return figures
}

/** Alternating rounds over the same feed; CPU time, because the machine may be busy. A package that cannot read it is left out. */
async function timeFigures(format: string, text: string): Promise<Figure[]> {
  const url = 'https://news.example.com/feed/'
  const works: { readonly name: string; readonly work: () => unknown; readonly times: number[] }[] = [
    { name: 'Kumo', work: () => parseFeed(text, { url }), times: [] },
  ]
  for (const rival of RIVALS) {
    try {
      const { entries } = await rival.read(text)
      if (entries.length > 0) works.push({ name: rival.name, work: () => rival.parse(text), times: [] })
    } catch {
      console.log(`feeds: ${rival.name} does not read ${format}`)
    }
  }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { work, times } of works) {
      const start = process.cpuUsage()
      for (let k = 0; k < FEEDS_A_ROUND; k++) await work()
      const { user, system } = process.cpuUsage(start)
      // The first round warms up.
      if (round > 0) times.push((user + system) / FEEDS_A_ROUND)
    }
  }
  const size = `${format} of ${Math.round(text.length / 1024)} KB`
  const [ours, ...theirs] = works
  const fastest = theirs.reduce((a, b) => (median(a.times) <= median(b.times) ? a : b))
  const ratios = ours!.times.map((time, at) => fastest.times[at]! / time)
  return [
    ...works.map(({ name, times }) => ({ what: `${size}: ${name}`, value: median(times), unit: 'µs' })),
    { what: `${size}: ${fastest.name} ÷ Kumo`, value: median(ratios), unit: '', bar: { atLeast: 2 } },
  ]
}
