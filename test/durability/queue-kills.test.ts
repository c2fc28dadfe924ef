/** A slow hook with a queue: killed without warning again and again, each page reaches the hook's own file. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from 'kumo/adapters'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Route, startSite } from '../loopback/site.js'
import { runProgram } from '../run-program.js'
import { isThorough } from '../thorough.js'

const KILLS = isThorough ? 20 : 3
/** A life lasts for so many requests, at most. */
const MOST_REQUESTS = 80
const HOSTS = ['127.0.0.1', '127.0.4.1', '127.0.4.2', '127.0.4.3']
/** Of each host: more than all lives together can crawl before the last. */
const PAGES = 25 * (KILLS + 1)
const DELAY_MS = 5

interface Visit {
  readonly life: number
  readonly start: number
  end: number
}

describe.each(isThorough ? [0, 2] : [2])('with %i workers', (workers) => {
  test(`${KILLS} kills: every page is in the index, and hosts are never hurried`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kumo-queue-kills-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const random = seededRandom(30 + workers)
    const visits = new Map<string, Visit[]>(HOSTS.map((host) => [host, []]))
    let life = 0
    const page: Route = (request, response) => {
      const visit = { life, start: performance.now(), end: 0 }
      visits.get((request.headers.host ?? '').replace(/:\d+$/, ''))!.push(visit)
      response.writeHead(200, { 'content-type': 'text/html' })
      // Before it is sent: the crawl cannot have it earlier.
      visit.end = performance.now()
      response.end('page')
    }
    const site = await startSite(Object.fromEntries(Array.from({ length: PAGES }, (_, i) => [`/${i}`, page])))
    onTestFinished(() => site.close())

    let kills = 0
    let last = ''
    for (; life <= KILLS; life++) {
      const killAt =
        life < KILLS ? site.requests.length + 5 + Math.floor(random.next() * MOST_REQUESTS) : Infinity
      let watching: NodeJS.Timeout | undefined
      const args = [site.url(), folder, String(workers), String(PAGES)]
      const { stdout, stderr } = await runProgram('test/durability/queue-program.ts', args, {
        onStart: (child) => {
          watching = setInterval(() => site.requests.length >= killAt && child.kill('SIGKILL'), 1)
        },
      })
      clearInterval(watching)
      expect(stderr).toBe('')
      if (!stdout.includes('ended')) kills++
      last = stdout
    }
    expect(kills).toBe(KILLS)
    expect(last).toBe('ended done\n')

    const files = readdirSync(folder).filter((name) => name.startsWith('index-'))
    const rows = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'))
    const indexed = new Set(rows.map((row) => row.split(' ')[0]))
    const everything = HOSTS.flatMap((host) =>
      Array.from({ length: PAGES }, (_, i) => site.url(`/${i}`, host)),
    )
    expect(everything.filter((url) => !indexed.has(url))).toEqual([])
    // What is delivered again is the same page: the index replaces it.
    expect(new Set(rows).size).toBe(everything.length)
    // Between two lives, a request of the first may still be on its way when the second begins.
    const hurried = [...visits.values()].flatMap((of) =>
      of.slice(1).filter((visit, i) => visit.life === of[i]!.life && visit.start - of[i]!.end < DELAY_MS - 1),
    )
    expect(hurried).toEqual([])
  })
})
