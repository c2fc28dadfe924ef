/**
 * Main content and Markdown, beside linkedom, Readability and Turndown in the same run: how much of the articles of the
 * content suite is found, how much of a manual is kept, and what a page of 22 KB costs. Needs ../shared.
 */

import { articles, foldScores, type Score, scoreOf, shinglesOf, tally } from './content-measure.js'
import { manualPages, pagesOfSize } from './content-pages.js'
import { kumoContent, rivalContent } from './content-rivals.js'
import type { Bench, Figure } from './report.js'
import { median } from './report.js'

const ROUNDS = 9
const FOLDS = 5

export const content: Bench = async () => {
  const pages = articles()
  if (pages === undefined) {
    console.log('content: skipped, ../shared is not there')
    return []
  }
  return [...qualityFigures(), ...recallFigures(), ...timeFigures()]

  function qualityFigures(): Figure[] {
    const truths = pages!.map(({ articleBody }) => shinglesOf(articleBody))
    const ours = pages!.map(({ html, url }, at) =>
      tally(truths[at]!, shinglesOf(kumoContent(html, url).text)),
    )
    const theirs = pages!.map(({ html }, at) => tally(truths[at]!, shinglesOf(rivalContent(html).text)))
    const our = scoreOf(ours)
    const their = scoreOf(theirs)
    const [ourFolds, theirFolds] = [foldScores(ours, FOLDS), foldScores(theirs, FOLDS)]
    return [
      ...scoreFigures('Kumo', our),
      ...scoreFigures('Readability', their),
      ...ourFolds.map(({ f1 }, fold) => {
        const what = `F1 of fold ${fold + 1} (Readability ${theirFolds[fold]!.f1.toFixed(3)})`
        return { what, value: f1, unit: '' }
      }),
      { what: 'F1, Kumo − Readability', value: our.f1 - their.f1, unit: '', bar: { atLeast: 0.01 } },
    ]
  }
}

function scoreFigures(name: string, { precision, recall, f1 }: Score): Figure[] {
  return [
    { what: `${name}: precision`, value: precision, unit: '' },
    { what: `${name}: recall`, value: recall, unit: '' },
    { what: `${name}: F1`, value: f1, unit: '' },
  ]
}

function recallFigures(): Figure[] {
  const recalls = manualPages().map(({ html, body }) => {
    const truth = shinglesOf(body)
    const [found, , missed] = tally(truth, shinglesOf(kumoContent(html, undefined).text))
    return found + missed === 0 ? 1 : found / (found + missed)
  })
  const mean = recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length
  return [
    {
      what: `recall of ${recalls.length} pages of the Python manual`,
      value: mean,
      unit: '',
      bar: { atLeast: 0.98 },
    },
  ]
}

/** Alternating rounds over the same pages; CPU time, because the machine may be busy. */
function timeFigures(): Figure[] {
  const pages = pagesOfSize(18_000, 26_000, 40)
  const url = 'https://example.com/a/'
  const our = () => {
    for (const html of pages) kumoContent(html, url)
  }
  const their = () => {
    for (const html of pages) rivalContent(html)
  }
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let round = 0; round <= ROUNDS; round++) {
    const both = [cpuOf(our), cpuOf(their)] as const
    // The first round warms up.
    if (round === 0) continue
    ours.push(both[0] / pages.length)
    theirs.push(both[1] / pages.length)
  }
  const ratios = ours.map((value, at) => value / theirs[at]!)
  return [
    { what: `main + markdown, ${pages.length} pages of 22 KB`, value: median(ours), unit: 'µs/page' },
    { what: 'linkedom + Readability + Turndown', value: median(theirs), unit: 'µs/page' },
    { what: 'Kumo ÷ rival', value: median(ratios), unit: '', bar: { atMost: 0.6 } },
  ]
}

function cpuOf(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return user + system
}
