/** `npm run demo -- --cluster 3`: several processes share a crawl on Redis, and one of them is killed. */

import { Cluster, type ClusterNode, TTL_MS } from '../../test/cluster/cluster.js'
import { whyNoRedis } from '../../test/stores/redis/server.js'
import { counted } from './format.js'

const HOSTS = 60
const PAGES_PER_HOST = 60
const DELAY_MS = 200
const LOOK_MS = 1000
/** The kill comes when this part of the pages is read. */
const KILL_AT = 0.3
const BAR = 20

/** What a process says about itself. */
interface NodeStats {
  readonly pages: number
  readonly partitions: number
}

export async function showCluster(processes: number): Promise<void> {
  const why = whyNoRedis()
  if (why !== undefined) {
    console.error(why)
    process.exitCode = 1
    return
  }
  const cluster = await Cluster.start({
    web: { hosts: HOSTS, pagesPerHost: PAGES_PER_HOST, linksPerPage: 20, crossHostShare: 0.2, latencyMs: 20 },
    delayMs: DELAY_MS,
    seeds: HOSTS,
  })
  const interrupted = () => void cluster.close().then(() => process.exit(130))
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    const { totalPages } = cluster.web
    console.log(
      `${processes} processes share a crawl of ${counted(totalPages, 'page')} on ${counted(HOSTS, 'host')}, at ` +
        `least ${DELAY_MS} ms between two visits\nto a host. If one is silent for ${TTL_MS / 1000} s, the others take over.\n`,
    )
    for (let i = 0; i < processes; i++) cluster.node()
    const victim = cluster.nodes[Math.floor(processes / 2)]!
    await watchUntil(cluster, async () => (await cluster.web.report()).distinctPages > KILL_AT * totalPages)
    const killedAt = Date.now()
    victim.signal('SIGKILL')
    console.log(`\nProcess ${cluster.nodes.indexOf(victim) + 1} is killed.\n`)
    const own = cluster.partitionsOwned.bind(cluster)
    const lost = await own()
    await watchUntil(cluster, async () => (await own()) < lost)
    await watchUntil(cluster, async () => (await own()) === lost)
    const seconds = ((Date.now() - killedAt) / 1000).toFixed(1)
    console.log(`\nThe others have taken over its hosts, ${seconds} s after the kill.\n`)
    await watchUntil(cluster, () =>
      cluster.nodes.every((node) => node === victim || node.result !== undefined),
    )
    await cluster.finish()
    const { missing, overlaps, belowGap, repeats } = await cluster.judge()
    console.log(
      `\nThe log of the web server: ${missing === 0 ? 'no page' : counted(missing, 'page')} missing, ` +
        `${overlaps} visits at a host at the same time, ${belowGap} pauses\ntoo short, ${counted(repeats, 'page')} read again ` +
        'because the process that was killed had not committed them.',
    )
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
    await cluster.close()
  }
}

/** Prints what each process has and has done, every second. */
async function watchUntil(cluster: Cluster, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (;;) {
    if (await isSo()) return
    for (const node of cluster.nodes) if (node.isReady) node.signal('SIGUSR2')
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    console.log(cluster.nodes.map((node, i) => described(node, i + 1)).join('   '))
  }
}

function described(node: ClusterNode, number: number): string {
  const stats = node.heard.findLast(({ what }) => what === 'stats') as NodeStats | undefined
  const share = Math.round((BAR * (stats?.partitions ?? 0)) / 1024)
  const pages = String(stats?.pages ?? 0).padStart(4)
  const isDead = node.child.signalCode !== null
  const bar = isDead ? 'killed'.padEnd(BAR) : '█'.repeat(share).padEnd(BAR, '·')
  return `${number} ${bar} ${pages} pages`
}
