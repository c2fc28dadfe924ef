/** Fetches a page, closes with another in flight, and has nothing left that keeps the process alive. */

import { httpFetcher } from '../../../src/fetch/http/http.js'

const base = process.argv[2]!
const options = JSON.parse(process.argv[3] ?? '{}')
const context = () => ({
  wants: () => true,
  aborted: false,
  onAbort: undefined,
  signal: undefined as never,
})
const request = (path: string) => ({
  url: new URL(path, base).href,
  host: new URL(base).host,
  depth: 0,
  priority: 0,
  attempt: 0,
  redirects: 0,
  parent: undefined,
})

const fetcher = httpFetcher({ userAgent: 'Kumo/0.1', ...options })
const first = await fetcher.fetch(request('/page'), context())
const second = fetcher.fetch(request('/hang'), context())
const unreachable = fetcher.fetch({ ...request('/'), url: 'http://192.0.2.1/', host: '192.0.2.1' }, context())
await new Promise((resolve) => setTimeout(resolve, 50))
await fetcher.close()
const outcomes = [first, await second].map((outcome) => (outcome.ok ? String(outcome.status) : outcome.code))
await unreachable
// TLS inside of a tunnel lets go of the socket beneath it one turn later.
await new Promise((resolve) => setImmediate(resolve))
const sockets = process.getActiveResourcesInfo().filter((name) => /TCP|TLS|Timeout|Immediate/.test(name))
console.log(`${JSON.stringify(outcomes)} sockets:${sockets.length}`)
