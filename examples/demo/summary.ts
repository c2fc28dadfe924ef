/** What a crawl comes to, in words, bars and figures. Pure: it turns a summary into lines. */

import type { EndReason, Failure, FailureCode, SkipReason, Summary } from 'kumo'
import type { Bottleneck } from 'kumo/adapters'
import {
  bar,
  bytes,
  count,
  counted,
  duration,
  milliseconds,
  type Paint,
  percent,
  rate,
  wrap,
} from './format.js'
import type { Witness } from './web.js'

export interface SummaryDetails {
  readonly delayMs: number
  readonly concurrency: number
  /** The first failure of each kind. */
  readonly examples: ReadonlyMap<FailureCode, Failure>
  /** What the server saw. Undefined: it is somebody else's. `gone`: it was ours, and ended before it could tell. */
  readonly witness: Witness | 'gone' | undefined
  readonly paint: Paint
  /** Columns of the terminal. */
  readonly width: number
}

const ENDINGS: Record<EndReason, string> = {
  'already-done': 'It had been finished before, and no seed was new.',
  done: 'Nothing was left to fetch.',
  limit: 'The limit was reached.',
  stopped: 'It was stopped.',
  aborted: 'It was aborted.',
}

/** What each bottleneck means, and what would change it. */
const ADVICE: Record<Bottleneck, string> = {
  politeness:
    'Hosts are resting between visits, as they should. More hosts would make the crawl faster; a shorter delay() ' +
    'only suits hosts that are yours.',
  schedule: 'Known pages wait for the time of their next visit: the crawl keeps up.',
  discovery:
    'Slots stood empty because nothing more was known to fetch. More seeds() or a wider scope() would fill them.',
  paused: 'The crawl was paused most of the time.',
  store: 'The store could not keep up, or could not write: look at its disk.',
  fetch:
    'Pages spend their time on the network. If the thread is not full, more concurrency() helps; if it is, this is ' +
    'as fast as one thread gets.',
  extract:
    'Extractors take most of the time. Reading page.document costs a hundred times the link scan: use page.title, ' +
    'page.links or page.text where they will do.',
  hooks: 'Hooks and page listeners hold the pages back. Let them write in batches, or do less for each page.',
  frontier: 'Choosing what is next takes most of the time: look at the store or the frontier that is used.',
  admit: 'Checking links takes most of the time: look at scope functions and at the seen-set.',
}

const SKIPS: Record<SkipReason, string> = {
  scope: 'links that lead out of scope',
  depth: 'deeper than depth()',
  robots: 'closed by robots.txt, or its robots.txt could not be had',
  nofollow: 'pages or links that ask not to be followed',
  blocked: 'on the block-list',
  'media-type': 'of a media type that no extractor wants',
  'host-limit': 'beyond limit({ pagesPerHost })',
  'site-limit': 'beyond limit({ pagesPerSite })',
  'url-too-long': 'longer than a URL needs to be',
  'path-too-deep': 'deeper in directories than a site needs to be',
  'path-repeats': 'with the same segments again and again',
  'query-variety': 'one more query for a path that has had very many',
  'too-many-links': 'beyond the links that are read of one page',
  'same-content': 'pages with content that the host showed many times before',
  'not-http': 'links that are not http(s)',
}

/** Longest bar, in cells; a narrow terminal makes it shorter. */
const LONGEST_BAR = 32
const SHORTEST_BAR = 6
const NAME_WIDTH = 12

/** The whole summary, line by line. */
export function summaryLines(summary: Summary, details: SummaryDetails): string[] {
  const sections = [
    headline(summary, details),
    slotTime(summary, details),
    threadTime(summary, details),
    bottleneck(summary, details),
    tally('Not fetched', summary.skips, (reason) => SKIPS[reason], details),
    tally('Failed', summary.failures, (code) => details.examples.get(code)?.message ?? '', details),
    politeness(summary, details),
  ]
  return sections.flatMap((lines) => (lines.length > 0 ? ['', ...lines] : []))
}

function headline(summary: Summary, { paint, width }: SummaryDetails): string[] {
  const { pages, hostsVisited, elapsedMs, pagesPerSecond } = summary
  const result = `${counted(pages, 'page')} from ${counted(hostsVisited, 'host')} in ${duration(elapsedMs)}`
  const lines = [paint.strong(result), `${rate(pagesPerSecond)} pages/s, ${bytes(summary.bytes)} of bodies`]
  return [...lines, ...wrap(ENDINGS[summary.reason], width, '').map(paint.faint)]
}

/** Slot time adds up to the whole: what pages spent in a stage, and what stood empty. */
function slotTime(summary: Summary, details: SummaryDetails): string[] {
  const { stages, idle } = summary
  const shares: [string, number][] = [
    ['politeness', idle.politeness],
    ['discovery', idle.discovery],
    ['paused', idle.paused],
    ['fetch', stages.fetch.slotShare],
    ['extract', stages.extract.slotShare],
    ['hooks', stages.hooks.slotShare],
  ]
  return bars(`Where the time of ${counted(details.concurrency, 'slot')} went`, shares, summary, details)
}

function threadTime(summary: Summary, details: SummaryDetails): string[] {
  if (summary.threadBusy === undefined) return []
  const title = `What kept the thread busy, ${percent(summary.threadBusy).trim()} of the time`
  const shares = Object.entries(summary.stages).map(([name, stage]): [string, number] => [
    name,
    stage.busyShare,
  ])
  return bars(title, shares, summary, details)
}

function bars(
  title: string,
  shares: readonly (readonly [string, number])[],
  summary: Summary,
  { paint, width }: SummaryDetails,
): string[] {
  const room = width - '  '.length - NAME_WIDTH - '  100 %'.length
  const cells = Math.max(SHORTEST_BAR, Math.min(LONGEST_BAR, room))
  const lines = shares
    .filter(([name, share]) => share > 0 || name === summary.bottleneck)
    .sort((a, b) => b[1] - a[1])
    .map(([name, share]) => {
      const colour = name === summary.bottleneck ? paint.accent : (text: string) => text
      return colour(`  ${name.padEnd(NAME_WIDTH)}${bar(share, cells)}  ${percent(share)}`)
    })
  return [title, ...lines]
}

function bottleneck(summary: Summary, { paint, width }: SummaryDetails): string[] {
  return [`Bottleneck: ${paint.strong(summary.bottleneck)}`, ...wrap(ADVICE[summary.bottleneck], width, '  ')]
}

function tally<K extends string>(
  title: string,
  counts: Readonly<Partial<Record<K, number>>>,
  explain: (key: K) => string,
  { paint, width }: SummaryDetails,
): string[] {
  const entries = (Object.entries(counts) as [K, number][]).sort((a, b) => b[1] - a[1])
  if (entries.length === 0) return [`${title}: ${paint.good('none')}`]
  const digits = Math.max(...entries.map(([, value]) => count(value).length))
  const indent = ' '.repeat(digits + '  '.length * 2)
  return [
    title,
    ...entries.flatMap(([key, value]) => {
      const line = `  ${count(value).padStart(digits)}  ${key}`
      const reason = explain(key)
      if (line.length + '  '.length + reason.length <= width) return [`${line}  ${paint.faint(reason)}`]
      return [line, ...wrap(reason, width, indent).map(paint.faint)]
    }),
  ]
}

function politeness(summary: Summary, { delayMs, witness, paint }: SummaryDetails): string[] {
  const gap = (ms: number | undefined) =>
    ms === undefined
      ? 'no host was visited twice'
      : (ms >= delayMs ? paint.good : paint.bad)(milliseconds(ms))
  const none = (value: number) => (value === 0 ? paint.good : paint.bad)(count(value))
  const lines = [
    'Politeness',
    `  visit interval           ${milliseconds(delayMs)}`,
    `  shortest gap, crawler's  ${gap(summary.shortestGapMs)}`,
  ]
  if (witness === undefined) return lines
  if (witness === 'gone') return [...lines, paint.faint('  (the server has ended, and its log with it)')]
  return [
    ...lines,
    `  shortest gap, server's   ${gap(witness.shortestGapMs)}`,
    `  gaps below the interval  ${none(witness.belowGap)}`,
    `  overlaps on a host       ${none(witness.overlaps)}`,
    paint.faint(`  by the server's log of ${counted(witness.requests, 'request')}`),
  ]
}
