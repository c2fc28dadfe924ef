import type { Feed, FeedDifference, FeedEntry, FeedMemory } from 'kumo/feeds'
import { compareFeed, parseFeed } from 'kumo/feeds'

export const HOUR = 3_600_000
export const START = Date.UTC(2024, 4, 1)

const EMPTY = parseFeed('<rss><channel></channel></rss>') as Feed

/** An entry with the fields that are given. */
export function entry(fields: Partial<FeedEntry>): FeedEntry {
  return {
    id: undefined,
    url: undefined,
    title: undefined,
    published: undefined,
    updated: undefined,
    author: undefined,
    summary: undefined,
    content: undefined,
    enclosures: [],
    categories: [],
    ...fields,
  }
}

/** The n-th article of a feed that publishes one an hour. */
export function article(n: number, fields: Partial<FeedEntry> = {}): FeedEntry {
  return entry({
    id: `tag:example.com,2024:${n}`,
    url: `https://example.com/${n}`,
    title: `Article number ${n} about ${['tea', 'rain', 'birds', 'trains', 'maps'][n % 5]}`,
    published: new Date(START + n * HOUR).toISOString(),
    content: `<p>Text ${n}</p>`,
    ...fields,
  })
}

/** Articles `to` down to `from`, newest first. */
export function articles(
  from: number,
  to: number,
  change: (n: number) => Partial<FeedEntry> = () => ({}),
): FeedEntry[] {
  return Array.from({ length: to - from + 1 }, (_, k) => article(to - k, change(to - k)))
}

export function feedOf(entries: readonly FeedEntry[], hints: Partial<Feed['hints']> = {}): Feed {
  return { ...EMPTY, entries, hints: { ...EMPTY.hints, ...hints } }
}

/** Polls one feed after the other; the n-th at the n-th hour. */
export function polls(...feeds: readonly (readonly FeedEntry[])[]): FeedDifference[] {
  let memory: FeedMemory | undefined
  return feeds.map((entries, k) => {
    const difference = compareFeed(memory, feedOf(entries), START + (k + 1) * 24 * HOUR)
    memory = difference.memory
    return difference
  })
}

/** What happened, in short. */
export function told(difference: FeedDifference): {
  readonly new: readonly (string | undefined)[]
  readonly changed: readonly (string | undefined)[]
  readonly missing: number
} {
  return {
    new: difference.new.map(({ title }) => title?.match(/\d+/)?.[0]),
    changed: difference.changed.map(({ title }) => title?.match(/\d+/)?.[0]),
    missing: difference.missing.length,
  }
}
