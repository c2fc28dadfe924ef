/** Turns the summary of a crawl into lines of text, bars and figures. Pure: it prints nothing. */

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
  /** What the server's log says. Undefined: the server is not ours. `gone`: it is ours, but has already exited. */
  readonly witness: Witness | 'gone' | undefined
  readonly paint: Paint
  /** Columns of the terminal. */
  readonly width: number
}

const ENDINGS: Record<EndReason, string> = {
  'already-done': 'The crawl was already complete, and no seed is new.',
  done: 'All reachable pages were fetched.',
  limit: 'A limit was reached.',
  stopped: 'The crawl was stopped.',
  aborted: 'The crawl was aborted.',
}

/** What each bottleneck means and how to remove it. */
const ADVICE: Record<Exclude<Bottleneck, `hook ${string}`>, string> = {
  politeness:
    'Most slots wait for the delay between two visits to a host. Crawl more hosts to go faster; shorten delay() ' +
    'only for hosts that you own.',
  schedule: 'Known pages are not due for their next visit yet: the crawl keeps up.',
  discovery: 'Slots were idle because the queue was empty. Add seeds() or widen scope().',
  bandwidth: 'The crawl receives as much as limit({ bandwidth }) allows. Raise it to go faster.',
  paused: 'The crawl was paused most of the time.',
  store: 'The store is slow or cannot write: check its disk.',
  fetch:
    'Pages wait for the network. Raise concurrency() if the thread is not fully busy; if it is, add workers().',
  extract:
    'Extractors take most of the time. page.document costs a hundred times as much as the link scan: use ' +
    'page.title, page.links or page.text where possible.',
  hooks: 'Hooks and page listeners are slow. Write in batches, or do less for each page.',
  frontier: 'Choosing the next request takes most of the time: check your store or frontier.',
  admit: 'Checking links takes most of the time: check your scope functions and seen store.',
}

const QUEUE_ADVICE =
  'This hook is slower than the crawl. Raise the parallelism of its queue, or do less for each page.'

const SKIPS: Record<SkipReason, string> = {
  scope: 'links out of scope',
  depth: 'deeper than depth()',
  robots: 'disallowed by robots.txt, or robots.txt was unavailable',
  nofollow: 'pages or links marked nofollow',
  blocked: 'on the block list',
  language: 'the page is in another language',
  'media-type': 'a media type that no extractor accepts',
  'host-limit': 'beyond limit({ pagesPerHost })',
  'site-limit': 'beyond limit({ pagesPerSite })',
  'url-too-long': 'URLs that are too long',
  'path-too-deep': 'paths with too many segments',
  'path-repeats': 'paths that repeat the same segments',
  'query-variety': 'too many different queries for one path',
  'too-many-links': 'more links than are read from one page',
  'same-content': 'pages with content that the host has served many times',
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

/** Slot time adds up to 100 %: the time that pages spent in each stage, and the idle time. */
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
  return bars(`How ${counted(details.concurrency, 'slot')} spent their time`, shares, summary, details)
}

function threadTime(summary: Summary, details: SummaryDetails): string[] {
  if (summary.threadBusy === undefined) return []
  const title = `What the thread did: it was busy ${percent(summary.threadBusy).trim()} of the time`
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
  const advice: string | undefined = (ADVICE as Record<string, string>)[summary.bottleneck]
  return [`Bottleneck: ${paint.strong(summary.bottleneck)}`, ...wrap(advice ?? QUEUE_ADVICE, width, '  ')]
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
    `  configured delay         ${milliseconds(delayMs)}`,
    `  shortest gap, crawler's  ${gap(summary.shortestGapMs)}`,
  ]
  if (witness === undefined) return lines
  if (witness === 'gone') return [...lines, paint.faint('  (the server has exited; its log is gone)')]
  return [
    ...lines,
    `  shortest gap, server's   ${gap(witness.shortestGapMs)}`,
    `  gaps below the delay     ${none(witness.belowGap)}`,
    `  overlapping visits       ${none(witness.overlaps)}`,
    paint.faint(`  according to the server's log of ${counted(witness.requests, 'request')}`),
  ]
}
