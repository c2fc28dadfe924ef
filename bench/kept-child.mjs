/**
 * What a program keeps of a crawl: URLs of skips, failures and links, in a process of its own. A URL that was a slice of
 * its page would keep the whole page. Plain JavaScript and no loader: `kumo` is the built package.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Crawler } from 'kumo'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

const HEADERS = {
  get: (name) => (name === 'content-type' ? 'text/html; charset=utf-8' : undefined),
  entries: () => [['content-type', 'text/html; charset=utf-8']],
}

function memory() {
  collect()
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  return heapUsed + Math.max(external, arrayBuffers)
}

const [what, count, linksPerPage, pageBytes] = [process.argv[2], ...process.argv.slice(3).map(Number)]
/** Not ASCII, and every URL is new. */
const FILLER = '<p>¶ some text that nobody reads</p>'
const WARM_UP = 2000
/** Until the collector has let go of what only timers and promises held. */
const settled = () => sleep(200)
let made = 0
function page() {
  const host = what === 'skip' ? 'https://elsewhere.example' : ''
  const links = Array.from(
    { length: linksPerPage },
    () => `<a href="${host}/a/path/of/some/length/${made++}">x</a>`,
  )
  return Buffer.from(links.join('\n') + FILLER.repeat(pageBytes / FILLER.length))
}
function fetch({ url }) {
  if (what === 'failure' && !url.endsWith('/'))
    return { ok: false, code: 'body-too-large', message: 'it was too large' }
  const body = page()
  return { ok: true, status: 200, headers: HEADERS, body, wireBytes: body.length, skippedBody: false }
}

/** Crawls until `most` URLs are kept. */
async function keep(kept, most) {
  const seeds = Array.from({ length: Math.ceil(most / linksPerPage) }, (_, n) => `https://host-${n}.example/`)
  let crawler = new Crawler().seeds(seeds).robots(false).delay(0).traps(false).fetcher(fetch)
  if (what === 'link') crawler = crawler.depth(0)
  const run = crawler.start()
  run.on('page', ({ links }) => {
    if (what === 'link') for (const { url } of links) kept.push(url)
  })
  if (what === 'skip') run.on('skip', ({ url }) => kept.push(url))
  if (what === 'failure') run.on('failure', ({ url }) => kept.push(url))
  await run.done
}

// What the library loads and compiles at its first crawl is not kept for URLs.
await keep([], WARM_UP)
await settled()
const before = memory()
const kept = []
await keep(kept, count)
await settled()
const bytes = (memory() - before) / kept.length
process.stdout.write(JSON.stringify({ kept: kept.length, bytes }))
