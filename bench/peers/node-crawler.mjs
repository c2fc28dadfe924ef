/** node-crawler, which parses with cheerio and follows nothing by itself: concurrency and seeds are its arguments. */

import Crawler from 'crawler'

const [concurrency, ...seeds] = process.argv.slice(2)
const origins = new Set(seeds.map((seed) => new URL(seed).origin))
const seen = new Set(seeds)
const crawler = new Crawler({
  maxConnections: Number(concurrency),
  retries: 0,
  silence: true,
  callback: (error, response, done) => {
    const { $ } = response ?? {}
    if (error || typeof $ !== 'function') return done()
    const page = response.options.url
    $('a[href]').each((_, link) => {
      const href = $(link).attr('href')
      if (!URL.canParse(href, page)) return
      const url = new URL(href, page)
      url.hash = ''
      if (!origins.has(url.origin) || seen.has(url.href)) return
      seen.add(url.href)
      crawler.add(url.href)
    })
    done()
  },
})
crawler.add(seeds)
crawler.on('drain', () => process.exit())
