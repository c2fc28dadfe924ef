/**
 * A copy that stays up to date. The first run crawls the site; each further run asks once, conditionally, for every page
 * that is known, and tells only what is new, changed or gone. Run it twice:
 *
 *   npx tsx examples/refresh.ts https://example.com/
 */

import { Crawler, level } from 'kumo'

const [seed = 'https://example.com/', folder = './refreshed'] = process.argv.slice(2)

// Counted here, because most counts of a stored crawl, `statuses` among them, are of all its runs. `changes` are of this one.
let saidSo = 0

const { changes } = await new Crawler()
  .userAgent('KumoExample/1.0 (+https://example.com/bot)')
  .seeds(seed)
  .limit({ pagesPerHost: 50 })
  .store(level(folder))
  .refresh({ rounds: 1, unchanged: true })
  .on('page', ({ change, status, url, title }) => {
    if (change !== 'unchanged') console.log(change, url, title)
    else if (status === 304) saidSo++
  })
  .run()

console.log(`${changes.unchanged ?? 0} unchanged; the server said so itself ${saidSo} times`)
