/** This room as the engine uses it: reading, comparing and finding feeds within the bounds of a crawl. */

import type { Feed, FoundFeed } from '../contract.js'
import { compareFeed } from '../difference/compare.js'
import { recoverFeed } from '../difference/recover.js'
import { discoverFeeds } from '../discover/discover.js'
import { parseFeed } from '../parse/parse.js'
import { emptyObservation, observationOf } from '../schedule/observation.js'
import type { FeedTools } from './contract.js'
import { askFor, leastPause } from './manners.js'

/**
 * Entries to read from one response: comparing ten thousand takes some 70 ms, in which no other visit continues. The
 * memory of such a feed has 30,000 entries, about a megabyte.
 */
const MAX_ENTRIES = 10_000

/** Feeds of comments, of which a blog has one for each article. */
const COMMENTS = /\bcomments?\b/i

export const feedTools: FeedTools = {
  parse({ url, headers, body, truncated }) {
    const feed = parseFeed(body, {
      url,
      contentType: headers.get('content-type'),
      contentLocation: headers.get('content-location'),
      maxEntries: MAX_ENTRIES,
    })
    return feed.kind !== 'none' && truncated === true ? asTruncated(feed) : feed
  },

  discover(page, { anchors = true, guess = false }) {
    const named = discoverFeeds(page, { anchors }).filter((feed) => !isOfComments(feed))
    // A site that names its feeds has no others at common paths, or the same ones.
    return named.length > 0 || !guess ? named : discoverFeeds(page, { anchors: false, guess })
  },

  ask: askFor,

  compare(memory, pages, { url, at, delta, seenAt, notBefore, visitIntervalMs, recovers }) {
    const [first] = pages
    const { feed, window, next } = delta
      ? { feed: first, window: undefined, next: undefined }
      : recoverFeed(memory, pages, { url })
    if (recovers && next !== undefined) return { older: next }
    const difference = compareFeed(memory, feed, at, { delta, window, seenAt })
    return {
      difference,
      observation: observationOf(first, difference, { at, delta, notBefore, visitIntervalMs }),
    }
  },

  nothing: emptyObservation,

  notBefore: leastPause,
}

/** The reader cannot know that the body was cut if the cut fell between two entries. */
function asTruncated(feed: Feed): Feed {
  return feed.problems.includes('truncated') ? feed : { ...feed, problems: [...feed.problems, 'truncated'] }
}

function isOfComments({ url, title = '' }: FoundFeed): boolean {
  return COMMENTS.test(title) || /\/comments\/(?:feed|rss|atom)/i.test(url)
}
