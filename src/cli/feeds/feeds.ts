/** `kumo feeds`: follows feeds and prints their new articles. */

import { KumoError } from '../../errors.js'
import type { FeedEvent, FeedsOptions } from '../../feeds/follow/contract.js'
import type { Crawler, Summary } from '../../index.js'
import { feedOptions } from '../../options/check-feeds.js'
import { readArguments } from '../arguments.js'
import { buildCrawler } from '../build-crawler.js'
import { json } from '../crawl/formats.js'
import { openSeedFile } from '../crawl/seed-file.js'
import { count, counted, cut, printable, wrap } from '../format.js'
import { runCrawl } from '../run-crawl.js'
import { DEFAULT_WIDTH, Screen } from '../screen.js'
import { UsageError } from '../usage-error.js'
import { FEEDS_OPTIONS } from './options.js'

type Options = ReadonlyMap<string, readonly string[]>

const NO_URL =
  'no URL given; pass the URL of a feed or of a site, as in: kumo feeds https://example.com/feed.xml'
const LONGEST_TITLE = 100
const NO_TITLE = '(no title)'
/** Someone may leave a pager open overnight: an article that was not printed is printed later. */
const LISTENER_TIMEOUT = '1d'

/** Resolves with the exit code. */
export async function feedsCommand(args: readonly string[]): Promise<number> {
  const { options, operands } = readArguments(args, FEEDS_OPTIONS)
  const path = options.get('seeds')?.at(-1)
  if (operands.length === 0 && path === undefined) throw new UsageError(NO_URL)
  const rules = followOptions(options)
  const crawler = buildCrawler(operands, options, FEEDS_OPTIONS)
  const seedFile = path === undefined ? undefined : await openSeedFile(path)
  const screen = new Screen(process.stdout, process.stderr, process.env.TERM)
  const aborter = new AbortController()
  const isQuiet = options.has('quiet')
  // An article that was not written must not count as delivered, so the run ends and leaves it for the next.
  process.stdout.on('error', () => aborter.abort())
  const lineOf = options.has('json') ? jsonLine : textLine
  const following: Crawler = (seedFile === undefined ? crawler : crawler.seeds(seedFile.urls))
    .depth(0)
    .sitemaps(false)
    .feeds(rules)
    .timeout({ hook: LISTENER_TIMEOUT })
    .on('store', ({ message }) => screen.note(`store: ${message}`))
    .on('failure', ({ url, message }) => {
      if (!isQuiet) screen.note(`${printable(url)}: ${printable(message)}`)
    })
    .on('feed', async (event) => {
      for (const entry of event.new) await screen.result(lineOf(event, entry))
    })
  const summary = await runCrawl(following, { screen, isQuiet, aborter }).finally(() => seedFile?.close())
  if (!isQuiet) screen.note(...summaryLines(summary))
  return (summary.feeds?.feeds ?? 0) > 0 ? 0 : 1
}

/** @throws UsageError for values that `feeds()` rejects. */
function followOptions(options: Options): FeedsOptions {
  const last = (name: string) => options.get(name)?.at(-1)
  const given = {
    budget: last('budget'),
    lost: last('lost'),
    min: last('min'),
    max: last('max'),
    aim: last('aim'),
    once: options.has('once'),
    discover: options.has('no-discover') ? false : { guess: options.has('guess') },
  } as FeedsOptions
  try {
    feedOptions(given)
    return given
  } catch (error) {
    if (!(error instanceof KumoError)) throw error
    throw new UsageError(error.message.replaceAll('feeds.', '--'))
  }
}

type Entry = FeedEvent['new'][number]

/** `2024-05-01 10:00  A title  https://example.com/article`. */
function textLine(_: FeedEvent, { published, title, url }: Entry): string {
  const at = published === undefined ? '-'.padEnd(16) : published.slice(0, 16).replace('T', ' ')
  return `${at}  ${cut(printable(title ?? NO_TITLE), LONGEST_TITLE)}  ${printable(url ?? '')}`.trimEnd()
}

/** Every key is always there; what the feed does not say is null. */
function jsonLine({ feed, poll }: FeedEvent, entry: Entry): string {
  const { key, id, url, title, published, updated, author, summary, content, categories, enclosures } = entry
  return json({
    feed: feed.url,
    feedTitle: feed.title ?? null,
    polledAt: new Date(poll.at).toISOString(),
    ...{ key, id: id ?? null, url: url ?? null, title: title ?? null },
    ...{ published: published ?? null, updated: updated ?? null, author: author ?? null },
    ...{ summary: summary ?? null, content: content ?? null, categories, enclosures },
  })
}

function summaryLines({ feeds }: Summary): string[] {
  if (feeds === undefined || feeds.feeds === 0) return ['No feed was found.']
  const { polls, fresh, futile, notModified, lostByDates, lostByRate } = feeds.total
  const lost = Math.round(lostByDates + lostByRate)
  const text =
    `${counted(feeds.feeds, 'feed')}, ${count(feeds.failing)} failing; ${counted(polls, 'poll')}, of which ` +
    `${count(futile)} brought nothing new and ${count(notModified)} were not modified; ` +
    `${counted(fresh, 'new article')} since the first polls, about ${count(lost)} lost.`
  const { feasibility } = feeds
  const why = feasibility?.feasible === false ? feasibility.why : undefined
  return [...wrap(text, DEFAULT_WIDTH, ''), ...(why === undefined ? [] : wrap(why, DEFAULT_WIDTH, ''))]
}
