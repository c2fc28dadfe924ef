/** One node of a crawl that several processes share. It reports what happens to it as lines of JSON. */

import { appendFileSync } from 'node:fs'
import { Crawler, type Hook } from 'kumo'
import { type RedisConnection, redis } from 'kumo/redis'

/** What a node is told. */
export interface NodeOrders {
  readonly url: string | RedisConnection
  readonly crawl: string
  readonly ttl: number
  readonly seeds: readonly string[]
  readonly delayMs: number
  readonly concurrency: number
  readonly pages?: number | undefined
  /** Present: a hook with a queue takes so long for a page, and writes the id and URL of each into a file when it is flushed. */
  readonly hook?: { readonly ms: number; readonly file: string } | undefined
  /** Default 0. */
  readonly workers?: number | undefined
}

const orders = JSON.parse(process.argv[2]!) as NodeOrders
/** A process that gets no CPU for so long may lose its lease, whatever the fault. */
const STARVED_MS = 300
const LOOK_MS = 50

const say = (what: string, more: object = {}) => console.log(JSON.stringify({ what, ...more }))

let mustStop = false
let hookMs = orders.hook?.ms ?? 0
process.on('message', (message: { readonly stopsItself?: true; readonly hookMs?: number }) => {
  hookMs = message.hookMs ?? hookMs
  mustStop ||= message.stopsItself === true
})
// Whoever listens to its parent would never end.
process.channel?.unref()

let crawler = new Crawler()
  .seeds(...orders.seeds)
  .scope('all')
  .allowPrivate('all')
  .robots(false)
  .delay(orders.delayMs)
  .concurrency(orders.concurrency)
  .store(redis(orders.url, { crawl: orders.crawl, ttl: orders.ttl }))
if (orders.hook !== undefined) crawler = crawler.use(slowHook(orders.hook))
// A function stays in the thread of the program.
if (orders.workers === undefined) crawler = crawler.proxy(stopIfTold)
else crawler = crawler.workers(orders.workers)
if (orders.pages !== undefined) crawler = crawler.limit({ pages: orders.pages })
const run = crawler.start()
run.on('store', ({ kind, message }) => say(kind, { message }))
process.once('SIGTERM', () => run.stop())
process.on('SIGUSR2', () => {
  say('stats', { pages: run.stats()?.pages ?? 0, partitions: run.health()?.partitions ?? 0 })
})
say('ready')
watchLag()
try {
  const { pages, reason, failed } = await run.done
  say('done', { pages, reason, failed })
} catch (error) {
  say('failed', { message: String(error) })
  process.exitCode = 1
}

/** A hook of which others can do a part. */
function slowHook({ file }: NonNullable<NodeOrders['hook']>): Hook {
  let lines = ''
  return {
    name: 'slow',
    queue: { offload: true },
    async page({ id, url }) {
      await new Promise((resolve) => setTimeout(resolve, hookMs))
      lines += `${id} ${url}\n`
    },
    flush() {
      appendFileSync(file, lines)
      if (lines !== '') say('flushed', { pages: lines.split('\n').length - 1 })
      lines = ''
    },
  }
}

/** Called when a request has been chosen, immediately before it is sent. The worst moment for a process to stop. */
function stopIfTold(): undefined {
  if (!mustStop) return
  mustStop = false
  say('stops')
  process.kill(process.pid, 'SIGSTOP')
}

function watchLag(): void {
  let last = performance.now()
  setInterval(() => {
    const lateMs = performance.now() - last - LOOK_MS
    last += lateMs + LOOK_MS
    if (lateMs > STARVED_MS) say('starved', { lateMs })
  }, LOOK_MS).unref()
}
