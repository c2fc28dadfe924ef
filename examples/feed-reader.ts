/**
 * A feed reader: prints each new article once, also if it is killed (kill -9) and started again. The URL may be a feed, or a
 * site whose feeds are found. The last argument is the longest time between two polls. Press Ctrl-C to stop.
 *
 *   npx tsx examples/feed-reader.ts https://example.com/feed.xml ./feeds 1d
 */

import { Crawler, level } from 'kumo'
import type { FeedsOptions } from 'kumo/feeds'

const [url = 'https://example.com/feed.xml', folder = './feeds', max = '7d'] = process.argv.slice(2)

const run = new Crawler()
  .userAgent('KumoExample/1.0 (+https://example.com/bot)')
  .seeds(url)
  .depth(0)
  .store(level(folder))
  .feeds({ budget: '500/day', max: max as FeedsOptions['max'], discover: true })
  .on('feed', ({ feed, new: articles, lost }) => {
    for (const { key, title, url } of articles) console.log(key, title, url)
    if (lost >= 1) console.log(`${feed.url}: about ${Math.round(lost)} articles were missed`)
  })
  .start()

process.once('SIGINT', () => run.stop())
const { feeds } = await run.done
console.log(`${feeds?.feeds} feeds, ${feeds?.total.polls} polls, ${feeds?.total.fresh} new since the first`)
