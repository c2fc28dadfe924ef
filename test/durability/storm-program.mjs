/**
 * The program of the storm: crawls that share a store on disk between worker threads, and end in every way in which a crawl
 * can end, one after the other in one process. LevelDB aborts a process that closes a database somebody reads: so that
 * this program comes to its last line is what it proves. It prints how many ends there were of each kind.
 *
 * Plain JavaScript, as program.mjs.
 */

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Crawler, fromModule, level } from 'kumo'
import { seededRandom } from 'kumo/adapters'

/** @type {{ ends: number, seed: number }} */
const { ends, seed } = JSON.parse(process.argv[2] ?? '')
const random = seededRandom(seed)
const below = (most) => Math.floor(random.next() * most)

const HOSTS = 40
const PAGES = 400
const LINKS = 25
/** An end that is to come at a random moment comes before this. */
const SOON_MS = 150
const WATCHDOG_MS = 1000

const server = createServer((_, response) => {
  response.setHeader('content-type', 'text/html')
  const link = () => `<a href="http://127.0.0.${1 + below(HOSTS)}:${port}/${below(PAGES)}">x</a>`
  response.end(Array.from({ length: LINKS }, link).join(''))
})
server.listen(0, '0.0.0.0')
await once(server, 'listening')
const { port } = server.address()
const home = await mkdtemp(join(tmpdir(), 'kumo-storm-'))

/** So little is in memory that threads read the disk all the time. */
const store = (name) =>
  level(join(home, name), { hostsInMemory: 9, requestsInMemory: 90, seenInMemory: 600, commitEvery: 20 })
const crawl = (name) =>
  new Crawler()
    .seeds(`http://127.0.0.1:${port}/`)
    .scope('all')
    .allowPrivate('all')
    .robots(false)
    .delay(0)
    .workers(3, { watchdog: WATCHDOG_MS })
    .store(store(name))
/** Code that runs in the threads. */
const trouble = (how) =>
  fromModule(new URL('./storm-trouble.mjs', import.meta.url), {
    export: 'trouble',
    with: { how, ms: below(SOON_MS) },
  })
const refreshing = (name) => crawl(name).refresh({ min: 100, max: '1s', first: 150, until: 100 })

/** How a crawl ended: its reason, or the code of its error. */
async function endOf(crawler, signal) {
  return endOfRun(crawler.start(signal && { signal }))
}

async function endOfRun(run) {
  try {
    return (await run.done).reason
  } catch (error) {
    if (typeof error.code === 'string' && error.code.startsWith('KUMO_')) return error.code
    throw error
  }
}

const MISMATCH = ['KUMO_STORE_MISMATCH']
const IN_TIME = ['limit', 'done']
/** A signal may come while the crawl is being opened. */
const ABORTED = ['aborted', 'done', 'KUMO_OPEN_FAILED']
/** Threads that die again and again before they have told of a page end the crawl. */
const DEAD = [...IN_TIME, 'KUMO_WORKER_FAILED']

/** How crawls are ended, and how they may end. Each kind has a folder of its own, where runs find what others left. */
const KINDS = {
  refused: [MISMATCH, (folder) => endOf(crawl(folder))],
  refusedRounds: [MISMATCH, (folder) => endOf(crawl(folder).refresh({ rounds: 1 }))],
  stop: [
    ['stopped', 'done'],
    (folder) => {
      const run = crawl(folder).start()
      setTimeout(() => run.stop(), below(SOON_MS))
      return endOfRun(run)
    },
  ],
  abort: [ABORTED, (folder) => endOf(crawl(folder), AbortSignal.timeout(below(SOON_MS)))],
  limit: [IN_TIME, (folder) => endOf(crawl(folder).limit({ time: `${1 + below(SOON_MS)}ms` }))],
  openFails: [['KUMO_OPEN_FAILED'], (folder) => endOf(crawl(folder).use(trouble('open')))],
  openExits: [['KUMO_WORKER_FAILED'], (folder) => endOf(crawl(folder).use(trouble('openExit')))],
  exit: [DEAD, (folder) => endOf(crawl(folder).limit({ time: 600 }).use(trouble('exit')))],
  throw: [DEAD, (folder) => endOf(crawl(folder).limit({ time: 600 }).use(trouble('throw')))],
  /** A loop that stands still: the watchdog ends its thread, while the others go on reading. */
  block: [DEAD, (folder) => endOf(crawl(folder).limit({ time: 2500 }).use(trouble('block')))],
  /** The same, and the crawl is aborted meanwhile. */
  abortBlocked: [
    [...ABORTED, ...DEAD],
    (folder) => endOf(crawl(folder).use(trouble('block')), AbortSignal.timeout(SOON_MS + below(SOON_MS))),
  ],
}
/** Those that end threads while they open the store have the best chance to hit them at the wrong moment. */
const TURN = [...Object.keys(KINDS), ...Array(3).fill(['refused', 'refusedRounds', 'openFails']).flat()]
/** Those that take seconds come less often. */
const SLOW = new Set(['block', 'abortBlocked'])
const SLOW_EVERY = 5

const counts = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, 0]))
let sum = 0
async function end(kind) {
  const [allowed, act] = KINDS[kind]
  const how = await act(kind)
  if (!allowed.includes(how)) throw new Error(`end ${sum}, ${kind}: '${how}', not ${allowed.join(' or ')}`)
  counts[kind]++
  if (++sum % 50 === 0) console.error(`${sum} ends`)
}

await refreshing('refused').run()
await refreshing('refusedRounds').run()
for (let turn = 0; sum < ends; turn++) {
  for (const kind of TURN) {
    if (sum < ends && (turn % SLOW_EVERY === 0 || !SLOW.has(kind))) await end(kind)
  }
}
// What is left can be gone on with.
for (const kind of Object.keys(KINDS).filter((each) => KINDS[each][0] !== MISMATCH)) {
  const how = await endOf(crawl(kind).limit({ time: 300 }))
  if (!IN_TIME.includes(how)) throw new Error(`${kind}, at last: '${how}'`)
}
server.close()
server.closeAllConnections()
await rm(home, { recursive: true, maxRetries: 3 })
console.log(JSON.stringify(counts))
