/** A crawl that visits its pages again until it is killed: [seed, folder, number of workers]. */

import { Crawler, level } from 'kumo'

const [seed = '', folder = '', workers = '0'] = process.argv.slice(2)

await new Crawler()
  .seeds(seed)
  .scope('all')
  .allowPrivate('all')
  .workers(Number(workers))
  .delay(40)
  .robots(false)
  .store(level(folder, { commitEvery: 50 }))
  .refresh({ min: 200, max: 400, first: 200 })
  .on('page', ({ change, url }) => console.log(change, url))
  .run()
