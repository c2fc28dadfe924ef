/** Crawls with cookies into a folder: `with-cookies.ts <folder> <workers> <seed>`. The test kills it. */

import { Crawler, level } from 'kumo'
import '../../use-thread-program.js'

const [folder, workers, seed] = process.argv.slice(2) as [string, string, string]

await new Crawler()
  .seeds(seed)
  .robots(false)
  .delay(20)
  .cookies()
  .workers(Number(workers))
  .store(level(folder))
  .run()
