/** A crawl in a process of its own, whose files the operating system bounds: it says when it is ready to be bounded. */

import { once } from 'node:events'
import { Crawler } from '../../../../src/crawler.js'
import { level } from '../../../../src/stores/level/level.js'

const [path, seed] = process.argv.slice(2) as [string, string]
const crawler = new Crawler()
  .seeds(seed)
  .robots(false)
  .delay(0)
  .store(level(path))
  .on('store', ({ kind, message }) => console.log(`${kind}: ${message}`))
console.log('ready')
await once(process.stdin, 'data')
process.stdin.destroy()
const { reason, pages } = await crawler.run()
console.log(JSON.stringify({ reason, pages }))
