/**
 * A crawl that is archived, until it is killed or done: [seed, folder, workers]. It prints the URL and the digest of every
 * page that it was given.
 */

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { Crawler, level } from 'kumo'
import { warc } from 'kumo/warc'

const [seed = '', folder = '', workers = '0'] = process.argv.slice(2)

const { reason } = await new Crawler()
  .seeds(seed)
  .workers(Number(workers))
  .delay(0)
  .perHost({ connections: 4, growAt: 1 })
  .store(level(join(folder, 'crawl'), { commitEvery: 20 }))
  .use(warc(join(folder, 'archive'), { size: '300kB' }))
  .on('page', ({ url, body }) => console.log(url, createHash('sha1').update(body).digest('hex')))
  .run()
console.log('ended', reason)
