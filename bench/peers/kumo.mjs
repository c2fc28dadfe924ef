/** Kumo as a program: concurrency and seeds are its arguments. */

import { Crawler } from 'kumo'

const [concurrency, ...seeds] = process.argv.slice(2)
await new Crawler()
  .seeds(seeds)
  .allowPrivate('all')
  .concurrency(Number(concurrency))
  .delay(0)
  .perHost({ connections: 10, growAt: 1 })
  .run()
