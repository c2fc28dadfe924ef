/**
 * A program that uses the installed package: `node smoke.mjs import` or `node smoke.mjs require`. It crawls with every
 * store, on one thread (twice each, in the same process) and on two workers, and prints the results.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const require = createRequire(import.meta.url)
const load = process.argv[2] === 'require' ? async (name) => require(name) : (name) => import(name)
const { Crawler, KumoError, all, level, memory, pathPrefix } = await load('kumo')
const { pageOf } = await load('kumo/conformance')
const { refreshRules } = await load('kumo/sim')

const PAGES = ['/', '/a', '/b', '/c/d']
const server = createServer(({ url }, response) => {
  const links = PAGES.map((path) => `<a href="${path}">x</a>`).join('')
  response.writeHead(PAGES.includes(url) ? 200 : 404, { 'content-type': 'text/html' })
  response.end(`<title>page ${url}</title>${links}`)
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const seed = `http://127.0.0.1:${server.address().port}/`
const folder = mkdtempSync(join(tmpdir(), 'kumo-smoke-'))
const crawler = new Crawler().seeds(seed).delay(0)

/** The titles that a crawl finds through the DOM. An extractor in a module of its own must find the same. */
async function titlesOf(crawler) {
  const titles = []
  const { reason } = await crawler
    .extract(new URL('./heading.mjs', import.meta.url))
    .on('page', (page) => {
      const { title } = page.document
      titles.push(title === page.data.heading ? title : `${title}, but ${page.data.heading}`)
    })
    .run()
  return [reason, ...titles.sort()]
}

const crawls = {
  memory: (workers) => crawler.store(memory()).workers(workers),
  level: (workers, run) => crawler.store(level(join(folder, `${workers}-${run}`))).workers(workers),
  // The build must not overwrite the exports behind these: see tsup.config.ts.
  scoped: (workers) => crawler.scope('site', '/**').workers(workers),
  combined: () => crawler.scope(all(pathPrefix(seed), ({ depth }) => depth < 9)),
  fetched: () =>
    crawler.fetcher(async ({ url }) => ({
      ok: true,
      status: 200,
      headers: new Map([['content-type', 'text/html']]),
      body: Buffer.from(`<title>page ${new URL(url).pathname}</title><a href=/a><a href=/b><a href=/c/d>`),
      wireBytes: 99,
      skippedBody: false,
    })),
}

const found = {}
for (const workers of [0, 2]) {
  for (const [name, made] of Object.entries(crawls)) {
    if (workers > 0 && made.length === 0) continue
    for (const run of workers === 0 ? [1, 2] : [1])
      found[`${name} ${workers} ${run}`] = await titlesOf(made(workers, run))
  }
}
server.close()
rmSync(folder, { recursive: true })

/** Whether a call throws a KumoError, as far as `instanceof` can tell. */
function throwsKumoError(act) {
  try {
    act()
  } catch (error) {
    return error instanceof KumoError && error instanceof Error
  }
  return false
}

const errors = {
  kumo: throwsKumoError(() => crawler.delay(-1)),
  conformance: throwsKumoError(() => {
    return pageOf({ url: seed, body: '{}', headers: { 'content-type': 'application/json' } }).document
  }),
  sim: throwsKumoError(() => refreshRules({ nonsense: 1 })),
}
// Another part of the same program may load the package in the other format.
const { KumoError: Other } = process.argv[2] === 'require' ? await import('kumo') : require('kumo')
errors.both = throwsKumoError(() => {
  throw new Other('KUMO_NO_SEEDS', 'none')
})
errors.others = throwsKumoError(() => {
  throw new TypeError('none')
})
console.log(JSON.stringify({ found, errors }))
