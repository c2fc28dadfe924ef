/**
 * A copy that stays up to date. The first run crawls the site; each further run asks once, conditionally, for every page
 * that is known, and tells only what is new, changed or gone. Run it twice:
 *
 *   npx tsx examples/refresh.ts https://example.com/
 */

import { Crawler, level } from 'kumo'

const [seed = 'https://example.com/', folder = './refreshed'] = process.argv.slice(2)

const { changes, statuses } = await new Crawler()
  .userAgent('KumoExample/1.0 (+https://example.com/bot)')
  .seeds(seed)
  .limit({ pagesPerHost: 50 })
  .store(level(folder))
  .refresh({ rounds: 1 })
  .on('page', ({ change, url, title }) => console.log(change, url, title))
  .run()

console.log(`${changes.unchanged ?? 0} unchanged; the server said so itself ${statuses[304] ?? 0} times`)
