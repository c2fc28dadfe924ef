/** A crawl into PostgreSQL and a file: whatever is killed, program or server, every page is in both, once. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { seededRandom } from 'kumo/adapters'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startSite } from '../../../loopback/site.js'
import { runProgram } from '../../../run-program.js'
import { isThorough } from '../../../thorough.js'
import { newFolder } from '../support.js'
import { findPostgres, PostgresServer } from './postgres-server.js'

const KILLS = isThorough ? 20 : 4
const PAGES = 200 + 120 * KILLS
const found = findPostgres()
const reason = 'reason' in found ? found.reason : undefined

describe.skipIf(reason !== undefined)(`kills${reason === undefined ? '' : ` (skipped: ${reason})`}`, () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await PostgresServer.create((found as { bin: string }).bin)
  })
  afterAll(() => server?.remove())

  test(`${KILLS} kills of program and server: every page is there once`, async () => {
    const random = seededRandom(20)
    const folder = newFolder()
    const page = (n: number) =>
      `<title>Page ${n}</title>${[1, 2, 3, 4].map((k) => `<a href="/${(n * 4 + k) % PAGES}">x</a>`).join('')}`
    const routes = Array.from({ length: PAGES }, (_, n) => [n === 0 ? '/' : `/${n}`, page(n)])
    const all = { ...Object.fromEntries(routes), '/0': page(0) }
    const site = await startSite(all)
    onTestFinished(() => site.close())

    let kills = 0
    let printed = ''
    for (let life = 0; life <= KILLS; life++) {
      const isLast = life === KILLS
      const at = site.requests.length + 40 + Math.floor(random.next() * 40)
      let restarting: Promise<void> | undefined
      let watching: NodeJS.Timeout | undefined
      const args = [site.url(), folder, server.url]
      const { stdout, stderr } = await runProgram('test/durability/sinks-program.ts', args, {
        onStart: (child) => {
          watching = setInterval(() => {
            if (isLast || site.requests.length < at) return
            // In every other life the server is killed first, and the program when it has gone on for a while.
            if (life % 2 === 1) {
              restarting ??= server.kill().then(() => server.start())
              if (site.requests.length < at + 20) return
            }
            if (child.kill('SIGKILL')) clearInterval(watching)
          }, 1)
        },
      })
      clearInterval(watching)
      await restarting
      expect(stderr).toBe('')
      printed = stdout
      if (stdout === '') kills++
    }
    expect([kills, printed]).toEqual([KILLS, expect.stringContaining('ended')])

    // Known from the site and not from the requests: a page that was never asked for is missing too.
    const urls = new Set(Object.keys(all).map((path) => site.url(path)))
    const rows = await server.query<{ url: string; title: string }>('SELECT url, title FROM pages')
    expect(rows).toHaveLength(urls.size)
    expect(new Set(rows.map(({ url }) => url))).toEqual(urls)
    const lines = readFileSync(join(folder, 'pages.jsonl'), 'utf8').trimEnd().split('\n')
    const written = lines.map((line) => (JSON.parse(line) as { url: string }).url)
    expect(new Set(written)).toEqual(urls)
    expect(written.length - urls.size).toBe(0)
  })
})
