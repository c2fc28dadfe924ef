/** `run({ signal })` aborted at full speed: how long until it returns, and until the process has ended by itself. */

import { performance } from 'node:perf_hooks'
import { startWeb } from '../test/loopback/web.js'
import { runTypeScript } from './child.js'
import type { Bench } from './report.js'

export const abort: Bench = async () => {
  const web = await startWeb({ hosts: 50, pagesPerHost: 1000, crossHostShare: 0.3 })
  const printed = await runTypeScript('aborting.ts', web.seeds())
  const ended = performance.timeOrigin + performance.now()
  await web.close()
  const { returnedInMs, returnedAt, pages } = JSON.parse(printed)
  return [
    { what: 'pages before the abort', value: pages, unit: '', bar: { atLeast: 100 } },
    { what: 'abort → run() returned', value: returnedInMs, unit: 'ms', bar: { atMost: 1000 } },
    { what: 'run() returned → process gone', value: ended - returnedAt, unit: 'ms', bar: { atMost: 1000 } },
  ]
}
