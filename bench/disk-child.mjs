/**
 * Crawls pages into a store on disk, or visits all of them again, and tells what the disk had to do. It joins a control
 * group first, which bounds its memory together with the cache of its files. Plain JavaScript and no loader: `kumo` is the
 * built package.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { Crawler, level } from 'kumo'

const HEADERS = {
  get: (name) => (name === 'content-type' ? 'text/html' : undefined),
  entries: () => [['content-type', 'text/html']],
}

const { folder, group, pages, hosts, urlBytes } = JSON.parse(process.argv[2])
if (group !== undefined) writeFileSync(`${group}/cgroup.procs`, String(process.pid))

/** Text that does not compress, as long as a URL is to be. */
function digits(page) {
  let state = (page * 2_654_435_761) >>> 0
  let text = ''
  while (text.length < urlBytes) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    text += state.toString(36)
  }
  return text
}
const urlOf = (page) => `https://www.host-${page % hosts}.example/${page}/${digits(page)}`

/** Each page leads to two new ones and to two that are known. */
function fetcher({ url }) {
  const page = Number(url.split('/')[3])
  const links = [2 * page + 1, 2 * page + 2, page >> 1, page >> 2]
    .filter((to) => to < pages)
    .map((to) => `<a href="${urlOf(to)}">${to}</a>`)
  const body = Buffer.from(links.join('\n'))
  return { ok: true, status: 200, headers: HEADERS, body, wireBytes: body.length, skippedBody: false }
}

function counters() {
  const lines = readFileSync('/proc/self/io', 'utf8').trim().split('\n')
  const io = Object.fromEntries(lines.map((line) => line.split(': ')))
  return { read: Number(io.read_bytes), written: Number(io.write_bytes) }
}

const before = counters()
const summary = await new Crawler()
  .seeds(urlOf(0))
  .scope('all')
  .robots(false)
  .delay(0)
  .concurrency(100)
  .traps(false)
  .fetcher(fetcher)
  .store(level(folder))
  .refresh({ rounds: 1 })
  .run()
const after = counters()
const visited = Object.values(summary.changes).reduce((sum, each) => sum + each, 0)
const rssMb = process.resourceUsage().maxRSS / 1024
process.stdout.write(
  JSON.stringify({ visited, read: after.read - before.read, written: after.written - before.written, rssMb }),
)
