/**
 * The limit that Kumo is measured against: undici fetching the same URLs from the same server and doing nothing
 * with them. Timings on a shared machine mean something only as ratios, so this runs beside what it is compared to.
 *
 * Alone, it measures itself: `npx tsx bench/raw.ts [pages] [concurrency]`.
 */

import { performance } from 'node:perf_hooks'
import { pathToFileURL } from 'node:url'
import { Agent, type Dispatcher, request } from 'undici'
import { startWeb } from '../test/loopback/web.js'

/** `request` is how an application would fetch; `dispatch`, with a handler that counts, is undici's bare engine. */
export type RawFlavour = 'request' | 'dispatch'

export interface RawResult {
  pages: number
  seconds: number
  pagesPerSecond: number
  /** Of this process; the server is another one. */
  cpuMsPerPage: number
  bytes: number
}

/** Fetches every URL once, `concurrency` at a time. Anything but a 200 is an error: it would flatter the figures. */
export async function rawUndici(options: {
  urls: readonly string[]
  concurrency: number
  flavour?: RawFlavour
}): Promise<RawResult> {
  const { urls, concurrency, flavour = 'dispatch' } = options
  const agent = new Agent({ connections: concurrency })
  const fetchAll = flavour === 'request' ? byRequest(urls, agent) : byDispatch(urls, agent)
  const cpu = process.cpuUsage()
  const start = performance.now()
  const bytes = await fetchAll(Math.min(concurrency, urls.length))
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpu)
  await agent.close()
  const pages = urls.length
  return {
    pages,
    seconds,
    pagesPerSecond: pages / seconds,
    cpuMsPerPage: (user + system) / 1000 / pages,
    bytes,
  }
}

type FetchAll = (concurrency: number) => Promise<number>

function byRequest(urls: readonly string[], dispatcher: Agent): FetchAll {
  let next = 0
  let bytes = 0
  const worker = async () => {
    while (next < urls.length) {
      const url = urls[next++]!
      const { statusCode, body } = await request(url, { dispatcher })
      if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}.`)
      bytes += (await body.arrayBuffer()).byteLength
    }
  }
  return async (concurrency) => {
    await Promise.all(Array.from({ length: concurrency }, worker))
    return bytes
  }
}

function byDispatch(urls: readonly string[], agent: Agent): FetchAll {
  // Taking URLs apart is not what is measured.
  const targets = urls.map((url) => {
    const { origin, pathname, search } = new URL(url)
    return { origin, path: pathname + search, method: 'GET' as const }
  })
  return (concurrency) =>
    new Promise((resolve, reject) => {
      let next = 0
      let done = 0
      let bytes = 0
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart() {},
        onResponseStart(_controller, statusCode) {
          if (statusCode !== 200) reject(new Error(`A page answered ${statusCode}.`))
        },
        onResponseData(_controller, chunk) {
          bytes += chunk.length
        },
        onResponseEnd() {
          if (++done === targets.length) resolve(bytes)
          else fetchNext()
        },
        onResponseError(_controller, error) {
          reject(error)
        },
      }
      const fetchNext = () => {
        const target = targets[next++]
        if (target) agent.dispatch(target, handler)
      }
      for (let i = 0; i < concurrency; i++) fetchNext()
    })
}

async function main(pages = 20_000, concurrency = 100): Promise<void> {
  const web = await startWeb({ pagesPerHost: pages })
  const urls = Array.from({ length: pages }, (_, page) => web.url(0, page))
  // The first round warms up both sides and is not shown.
  await rawUndici({ urls: urls.slice(0, pages / 4), concurrency })
  for (const flavour of ['request', 'dispatch', 'request', 'dispatch'] as const) {
    await web.reset()
    const raw = await rawUndici({ urls, concurrency, flavour })
    const { cpuMs, requests } = await web.report()
    console.log(
      `${flavour.padEnd(8)} ${raw.pagesPerSecond.toFixed(0).padStart(6)} pages/s, ` +
        `${raw.cpuMsPerPage.toFixed(4)} ms CPU/page; the server took ${(cpuMs / requests).toFixed(4)} ms/page ` +
        `(${((1000 * requests) / cpuMs).toFixed(0)} pages/s a core)`,
    )
  }
  await web.close()
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [pages, concurrency] = process.argv.slice(2).map(Number)
  await main(pages, concurrency)
}
