/** `npm run bench` runs all benches, `npm run bench -- core scanner` some. A missed bar makes the exit code 1. */

import { abort } from './abort.js'
import { balance } from './balance.js'
import { bandwidth } from './bandwidth.js'
import { broad } from './broad.js'
import { content } from './content.js'
import { core } from './core.js'
import { disk } from './disk.js'
import { durable } from './durable.js'
import { exchange } from './exchange.js'
import { fairness } from './fairness.js'
import { feedSchedule } from './feed-schedule.js'
import { feeds } from './feeds.js'
import { frontier } from './frontier.js'
import { graph } from './graph.js'
import { hooks } from './hooks.js'
import { importing } from './importing.js'
import { kept } from './kept.js'
import { memory } from './memory.js'
import { peers } from './peers.js'
import { pieces } from './pieces.js'
import { pipeline } from './pipeline.js'
import { politeness } from './politeness.js'
import { queue } from './queue.js'
import { redis } from './redis.js'
import { redisWork } from './redis-work.js'
import { refresh } from './refresh.js'
import { type Bench, report } from './report.js'
import { requests } from './requests.js'
import { robots } from './robots.js'
import { scaling } from './scaling.js'
import { scanner } from './scanner.js'
import { search } from './search.js'
import { searchCrawl } from './search-crawl.js'
import { seen } from './seen.js'
import { sites } from './sites.js'
import { virtual } from './virtual.js'
import { warc } from './warc.js'
import { workers } from './workers.js'

const BENCHES: Record<string, Bench> = {
  core,
  sites,
  broad,
  bandwidth,
  scanner,
  content,
  feeds,
  graph,
  hooks,
  search,
  'search-crawl': searchCrawl,
  pipeline,
  'feed-schedule': feedSchedule,
  robots,
  seen,
  frontier,
  fairness,
  refresh,
  queue,
  politeness,
  virtual,
  memory,
  kept,
  pieces,
  disk,
  durable,
  redis,
  'redis-work': redisWork,
  requests,
  peers,
  warc,
  exchange,
  workers,
  balance,
  scaling,
  abort,
  import: importing,
}

/** Only if they are asked for: they install other programs. */
const ONLY_BY_NAME = new Set(['peers'])

const names = process.argv.slice(2)
const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name))
if (unknown.length > 0) {
  console.error(`No bench named ${unknown.join(', ')}; there are: ${Object.keys(BENCHES).join(', ')}.`)
  process.exit(2)
}
let met = true
for (const [name, bench] of Object.entries(BENCHES)) {
  if (names.length === 0 ? ONLY_BY_NAME.has(name) : !names.includes(name)) continue
  met = report(name, await bench()) && met
}
process.exit(met ? 0 : 1)
