/**
 * A news monitor: fetches every new article of some feeds and reports those that mention a word. Run it every few minutes;
 * each run polls the feeds that are due, and fetches what is new.
 *
 *   npx tsx examples/news-monitor.ts weather ./news https://example.com/feed.xml https://example.org/rss
 */

import { Crawler, level } from 'kumo'
import type { NamedEntry } from 'kumo/feeds'

const [word = 'weather', folder = './news', ...given] = process.argv.slice(2)
const feeds = given.length > 0 ? given : ['https://example.com/feed.xml']

await new Crawler()
  .userAgent('KumoExample/1.0 (+https://example.com/bot)')
  .seeds(feeds)
  .depth(0)
  .store(level(folder))
  .feeds({ articles: 'fetch', once: true })
  .routes({
    article(page) {
      const { title, published } = page.request.data as NamedEntry
      const sentence = page.main.split(/(?<=[.!?])\s+/).find((each) => each.includes(word))
      if (sentence !== undefined) console.log(published ?? 'undated', title, page.url, '–', sentence.trim())
    },
  })
  .run()
