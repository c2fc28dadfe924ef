/** Crawls into a folder, and has nothing left that keeps the process alive. */

import { Crawler } from '../../../../src/crawler.js'
import { level } from '../../../../src/stores/level/level.js'

const [path, seed, pages] = process.argv.slice(2) as [string, string, string]
const { reason } = await new Crawler()
  .seeds(seed)
  .delay(0)
  .limit({ pages: Number(pages) })
  .store(level(path))
  .run()
// What undici has closed lets go of its socket one turn later.
await new Promise((resolve) => setImmediate(resolve))
const handles = process.getActiveResourcesInfo().filter((name) => !/Pipe|TTY|Immediate|CloseReq/.test(name))
console.log(`${reason} handles:${handles.length}`)
