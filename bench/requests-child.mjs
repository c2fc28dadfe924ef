/**
 * Admits requests to a Level store as the engine does, closes it, and says how long that took and what it left on disk.
 * Opened again, it must hand out what went in. Plain JavaScript and no loader: `kumo` is the built package.
 */

import { randomBytes } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { level } from 'kumo'
import { byHost, knownAs, systemClock } from 'kumo/adapters'

/** As many as the links of a long page, a few to each host. */
const BATCH = 1000
const TOGETHER = 4
/** Texts that are made beforehand, so that only admitting them is timed: more than fit into a block of a table. */
const TEXTS = 2 ** 16
const CHECKED = 1000
const LOOK_MS = 200
const QUIET_LOOKS = 5

const { folder, requests, hosts, label, dataBytes } = JSON.parse(process.argv[2])
const clock = systemClock()
const partitioner = byHost()
const texts = Array.from({ length: label === undefined ? 0 : TEXTS }, () =>
  JSON.stringify(
    randomBytes(dataBytes)
      .toString('base64')
      .slice(0, dataBytes - 2),
  ),
)

function requestOf(i) {
  const host = `www.host-${Math.floor((i / TOGETHER) * 7919) % hosts}.example`
  const url = `https://${host}/section-${i % 77}/article-${i}.html`
  const parent = `https://${host}/`
  if (label === undefined) return { url, host, depth: 1, priority: 0, attempt: 0, redirects: 0, parent }
  const extras = { label, data: texts[i % TEXTS] }
  return { url, host, depth: 1, priority: 0, attempt: 0, redirects: 0, parent, extras }
}

function open() {
  return level(folder).open({
    politeness: { delayMs: 0, connections: 1, growAt: 100 },
    policy: ({ readyAt }) => readyAt,
    clock,
    partitions: partitioner.partitions,
    partitionOf: (host) => partitioner.partition(host),
    identity: {},
  })
}

const store = await open()
const start = performance.now()
const cpuBefore = process.cpuUsage()
for (let from = 0; from < requests; from += BATCH) {
  const batch = Array.from({ length: Math.min(BATCH, requests - from) }, (_, i) => requestOf(from + i))
  const isNew = await store.seen.addAll(batch.map(knownAs))
  await store.frontier.add(batch.filter((_, i) => isNew[i]))
}
await store.close()
const perSecond = requests / ((performance.now() - start) / 1000)
const cpu = process.cpuUsage(cpuBefore)
const cpuMicros = (cpu.user + cpu.system) / requests

const again = await open()
let isWhole = again.frontier.pending === requests
for (let checked = 0; checked < CHECKED; ) {
  const leases = again.frontier.lease(CHECKED - checked, clock.now())
  for (const { url, extras } of leases) {
    const expected = requestOf(Number(/(\d+)\.html$/.exec(url)[1]))
    isWhole &&=
      url === expected.url &&
      extras?.label === expected.extras?.label &&
      extras?.data === expected.extras?.data
  }
  checked += leases.length
  await new Promise((resolve) => setImmediate(resolve))
}
const bytes = await settledSize()
await again.close()
process.stdout.write(`${JSON.stringify({ perSecond, cpuMicros, bytes, isWhole })}\n`)

/** LevelDB merges tables in the background, and has both versions of them meanwhile. */
async function settledSize() {
  for (let last = await size(), quiet = 0; ; ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    const now = await size()
    quiet = now === last ? quiet + 1 : 0
    if (quiet === QUIET_LOOKS) return now
    last = now
  }
}

async function size() {
  const sizes = (await readdir(folder)).map(async (name) => {
    // Removed meanwhile.
    return (await stat(join(folder, name)).catch(() => ({ size: 0 }))).size
  })
  return (await Promise.all(sizes)).reduce((sum, each) => sum + each, 0)
}
