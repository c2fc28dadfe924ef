/**
 * The limit that Kumo is measured against: undici fetching the same URLs from the same server and doing nothing
 * with them. Timings on a shared machine mean something only as ratios, so this runs beside what it is compared to.
 *
 * Plain JavaScript, as Kumo's published files are: a loader that rewrites what it loads would be measured too.
 */

import { performance } from 'node:perf_hooks'
import { Agent, request } from 'undici'

/** @typedef {(concurrency: number) => Promise<number>} FetchAll answers with the bytes that came */

/**
 * Fetches every URL once, `concurrency` at a time. Anything but a 200 is an error: it would flatter the figures.
 *
 * @param {import('./raw.mjs').RawOptions} options
 * @returns {Promise<import('./raw.mjs').RawResult>}
 */
export async function rawUndici({ urls, concurrency, flavour = 'dispatch' }) {
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

/** @returns {FetchAll} */
function byRequest(urls, dispatcher) {
  let next = 0
  let bytes = 0
  const worker = async () => {
    while (next < urls.length) {
      const url = urls[next++]
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

/** @returns {FetchAll} */
function byDispatch(urls, agent) {
  // Taking URLs apart is not what is measured.
  const targets = urls.map((url) => {
    const { origin, pathname, search } = new URL(url)
    return { origin, path: pathname + search, method: 'GET' }
  })
  return (concurrency) =>
    new Promise((resolve, reject) => {
      let next = 0
      let done = 0
      let bytes = 0
      const handler = {
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
