/**
 * The steps of the durable bench, each in a process of its own, so that its memory and its start are its own. Plain
 * JavaScript and no loader: `kumo` is the built package as an application gets it.
 */

import { performance } from 'node:perf_hooks'
import { Crawler, level } from 'kumo'
import { byHost, systemClock } from 'kumo/adapters'

const HEADERS = {
  get: (name) => (name === 'content-type' ? 'text/html' : undefined),
  entries: () => [['content-type', 'text/html']],
}

/** A server that answers at once. */
function answering(bodyOf) {
  return (request) => {
    const body = Buffer.from(bodyOf(request), 'latin1')
    return { ok: true, status: 200, headers: HEADERS, body, wireBytes: body.length, skippedBody: false }
  }
}

function randomFrom(seed) {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const STEPS = {
  /** Pages with a thousand links each, a few to each host, as lists of links have them: what they lead to is admitted, and hardly any of it visited. */
  async admit({ folder, urls, hosts, linksPerPage, linksTogether }) {
    const random = randomFrom(1)
    let made = 0
    const fetch = answering(() => {
      let page = ''
      let host = 0
      for (let i = 0; i < linksPerPage; i++) {
        if (i % linksTogether === 0) host = random(hosts)
        page += `<a href="https://www.host-${host}.example/section-${host % 77}/article-${made++}.html">read</a>\n`
      }
      return page
    })
    const crawler = new Crawler()
      .seeds('https://www.host-0.example/')
      .scope('all')
      .robots(false)
      .delay(0)
      .concurrency(8)
      .limit({ pages: Math.ceil(urls / linksPerPage) })
      .fetcher(fetch)
      .store(level(folder))
    const start = performance.now()
    const { known, pending } = await crawler.run()
    const seconds = (performance.now() - start) / 1000
    return { known, pending, perSecond: known / seconds, peakMb: process.resourceUsage().maxRSS / 1024 }
  },

  /** Opens what is there and hands it out. */
  async lease({ folder, requests, atOnce }) {
    const clock = systemClock()
    const partitioner = byHost()
    const start = performance.now()
    const store = await level(folder).open({
      politeness: { delayMs: 0, connections: 1, growAt: 100 },
      policy: ({ readyAt }) => readyAt,
      clock,
      partitions: partitioner.partitions,
      partitionOf: (host) => partitioner.partition(host),
      identity: {},
    })
    const { frontier } = store
    let rouse = () => {}
    frontier.watch(() => rouse())
    const { pending } = frontier
    let firstLeaseMs
    let done = 0
    let begunAt = 0
    while (done < requests) {
      const leases = frontier.lease(atOnce, clock.now())
      if (leases.length === 0) {
        await new Promise((resolve) => {
          rouse = resolve
        })
        continue
      }
      if (firstLeaseMs === undefined) {
        firstLeaseMs = performance.now() - start
        begunAt = performance.now()
      }
      const visitedAt = clock.now()
      frontier.settle(leases.map((request) => ({ request, visitedAt })))
      done += leases.length
      // As a crawl would, let the disk have its turn.
      await new Promise((resolve) => setImmediate(resolve))
    }
    const perSecond = done / ((performance.now() - begunAt) / 1000)
    const isExact = frontier.pending === pending - done
    await store.close()
    return { firstLeaseMs, perSecond, isExact, peakMb: process.resourceUsage().maxRSS / 1024 }
  },

  /** A long crawl: each page leads to two new ones and to ten that are known. */
  async long({ folder, pages, window, hosts, kind }) {
    const random = randomFrom(2)
    const urlOf = (page) => `https://www.host-${page % hosts}.example/p/${page}`
    const fetch = answering(({ url }) => {
      const page = Number(url.slice(url.lastIndexOf('/') + 1))
      let links = `<a href="${urlOf(2 * page + 1)}">a</a><a href="${urlOf(2 * page + 2)}">b</a>`
      for (let i = 0; i < 10; i++) links += `<a href="${urlOf(random(page + 1))}">c</a>`
      return links
    })
    const store = kind === 'level' ? level(folder) : undefined
    let crawler = new Crawler().seeds(urlOf(0)).scope('all').robots(false).delay(0).concurrency(200)
    crawler = crawler.limit({ pages }).traps(false).fetcher(fetch)
    if (store !== undefined) crawler = crawler.store(store)
    let count = 0
    const marks = [performance.now()]
    await crawler
      .on('page', () => {
        if (++count % window === 0) marks.push(performance.now())
      })
      .run()
    const rates = marks.slice(1).map((mark, i) => (window * 1000) / (mark - marks[i]))
    return { rates, peakMb: process.resourceUsage().maxRSS / 1024 }
  },
}

const [step, options] = process.argv.slice(2)
const result = await STEPS[step](JSON.parse(options))
process.stdout.write(`${JSON.stringify(result)}\n`)
