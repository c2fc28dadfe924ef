/** A crawl whose pages go to PostgreSQL and to a file, until it is killed or done: [site, folder, server]. */

import { Crawler, level } from 'kumo'
import { jsonl, postgres } from 'kumo/sinks'

const [site = '', folder = '', server = ''] = process.argv.slice(2)
// The server is killed too, and comes back: nothing may be given up meanwhile.
const retry = { attempts: 10_000, first: 10, most: 100 } as const

const { pages } = await new Crawler()
  .seeds(site)
  .delay(0)
  .concurrency(20)
  .perHost({ connections: 20 })
  .robots(false)
  .store(level(`${folder}/crawl`, { commitEvery: 20 }))
  .use(jsonl(`${folder}/pages.jsonl`, { batch: { pages: 3 } }))
  .use(postgres(server, { batch: { pages: 7 }, retry }))
  .run()
console.log('ended', pages)
