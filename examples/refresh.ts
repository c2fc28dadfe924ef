/**
 * A copy that stays up to date. The first run crawls the site. Each further run sends one conditional request for every
 * known page and reports only what is new, changed or gone. Run it twice:
 *
 *   npx tsx examples/refresh.ts https://example.com/
 */

import { Crawler, level } from 'kumo'

const [seed = 'https://example.com/', folder = './refreshed'] = process.argv.slice(2)

// Counted here because `statuses`, like most counts of a stored crawl, covers all runs. `changes` covers this run.
let notModified = 0

const { changes } = await new Crawler()
  .userAgent('KumoExample/1.0 (+https://example.com/bot)')
  .seeds(seed)
  .limit({ pagesPerHost: 50 })
  .store(level(folder))
  .refresh({ rounds: 1, unchanged: true })
  .on('page', ({ change, status, url, title }) => {
    if (change !== 'unchanged') console.log(change, url, title)
    else if (status === 304) notModified++
  })
  .run()

console.log(`${changes.unchanged ?? 0} unchanged, ${notModified} of them by status 304`)
