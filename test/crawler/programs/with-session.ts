/** Crawls behind a login into a folder: `with-session.ts <folder> <workers> <seed> <password>`. The test kills it. */

import { Crawler, level, session } from 'kumo'
import '../../use-thread-program.js'

const [folder, workers, seed, password] = process.argv.slice(2) as [string, string, string, string]

await new Crawler()
  .seeds(seed)
  .delay(150)
  .workers(Number(workers))
  .store(level(folder))
  .use(session({ login: new URL('/login', seed), fields: { user: 'alice', password }, interval: 100 }))
  .run()
