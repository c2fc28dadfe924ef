/**
 * A planet: the newest articles of many feeds as one Atom feed. Run it as often as you like; it polls the feeds that are
 * due and adds what is new.
 *
 *   npx tsx examples/planet.ts ./planet https://example.com/feed.xml https://example.org/rss > planet.xml
 */

import { Crawler, level } from 'kumo'
import type { NamedEntry } from 'kumo/feeds'

const MOST = 100

const [folder = './planet', ...given] = process.argv.slice(2)
const feeds = given.length > 0 ? given : ['https://example.com/feed.xml']

interface Article extends Pick<NamedEntry, 'key' | 'url' | 'title'> {
  readonly source: string
  readonly at: string
}

let newest: readonly Article[] = []
let save = () => {}

await new Crawler()
  .userAgent('KumoExample/1.0 (+https://example.com/bot)')
  .seeds(feeds)
  .depth(0)
  .store(level(folder))
  .feeds({ once: true })
  .use({
    name: 'planet',
    async open({ state }) {
      newest = ((await state.get('newest')) as typeof newest | undefined) ?? []
      save = () => state.put('newest', newest)
    },
    feed({ feed, new: articles, poll }) {
      const found = articles.map(({ key, url, title, published }) => {
        const at = published ?? new Date(poll.at).toISOString()
        return { key, url, title, at, source: feed.title ?? feed.url }
      })
      // Entries that come again after a crash have the same key.
      const known = new Map([...newest, ...found].map((article) => [article.key, article]))
      newest = [...known.values()].sort((a, b) => b.at.localeCompare(a.at)).slice(0, MOST)
      // Stored together with the poll.
      save()
    },
  })
  .run()

const text = (raw = '') => raw.replace(/[<>&"]/g, (c) => `&#${c.charCodeAt(0)};`)
console.log('<feed xmlns="http://www.w3.org/2005/Atom"><title>Planet</title><id>urn:planet</id>')
for (const { key, url, title, at, source } of newest) {
  const link = url === undefined ? '' : `<link href="${text(url)}"/>`
  const entry = `<id>urn:key:${key}</id><title>${text(source)}: ${text(title)}</title><updated>${at}</updated>`
  console.log(`<entry>${entry}${link}</entry>`)
}
console.log('</feed>')
