/** A crawl that indexes its pages, until it is killed or done: [site, folder, workers, pages]. */

import { Crawler, level } from 'kumo'
import { searchIndex } from 'kumo/search'

const [site = '', folder = '', workers = '0', pages = '0'] = process.argv.slice(2)

const { reason } = await new Crawler()
  .seeds(
    Array.from({ length: 8 }, (_, i) => `127.0.9.${i + 1}`).flatMap((host) =>
      Array.from({ length: Number(pages) }, (_, i) => `${site.replace('127.0.0.1', host)}${i}`),
    ),
  )
  .depth(0)
  .workers(Number(workers), { balance: false })
  .delay('5ms')
  .robots(false)
  .store(level(`${folder}/crawl`, { commitEvery: 20 }))
  .use(searchIndex(`${folder}/index`, { sync: false }))
  .run()
console.log('ended', reason)
