/** Handlers that follow and add: killed without warning again and again, a crawl loses nothing that they asked for. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from 'kumo/adapters'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startSite } from '../loopback/site.js'
import { runProgram } from '../run-program.js'
import { isThorough } from '../thorough.js'

const KILLS = isThorough ? 20 : 2
/** A life lasts for so many requests, at most. */
const MOST_REQUESTS = 120
/** More than all lives together can crawl before the last. */
const LISTS = 8 + 5 * KILLS
const HOSTS = ['127.0.0.1', '127.0.4.1', '127.0.4.2', '127.0.4.3']
const ITEMS = 5
/** From outside of the handlers, in each life. */
const ADDED = 40
/** On every host. */
const PATHS = countTo(LISTS).flatMap((n) => [
  `/list/${n}`,
  `/added/${n}`,
  ...countTo(ITEMS).map((k) => `/item/${n}/${k}`),
])

function countTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i)
}

describe.each([0, 2])('with %i workers', (workers) => {
  test(`${KILLS} kills: everything followed or added arrives, at its own route`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kumo-following-kills-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const random = seededRandom(20 + workers)
    const outside = countTo(KILLS + 1).flatMap((life) => countTo(ADDED).map((i) => `/outside/${life}/${i}`))
    const site = await startSite(Object.fromEntries([...PATHS, ...outside].map((path) => [path, 'page'])))
    onTestFinished(() => site.close())

    const lines: string[] = []
    let kills = 0
    for (let life = 0; life <= KILLS; life++) {
      const killAt =
        life < KILLS ? site.requests.length + 10 + Math.floor(random.next() * MOST_REQUESTS) : Infinity
      let watching: NodeJS.Timeout | undefined
      const args = [site.url(), folder, String(workers), String(life), String(LISTS)]
      const { stdout, stderr } = await runProgram('test/durability/following-program.ts', args, {
        onStart: (child) => {
          watching = setInterval(() => site.requests.length >= killAt && child.kill('SIGKILL'), 1)
        },
      })
      clearInterval(watching)
      expect(stderr).toBe('')
      if (!stdout.includes('ended')) kills++
      // A line that was cut off by the kill is not a promise.
      lines.push(...stdout.split('\n').slice(0, -1))
    }
    expect(kills).toBe(KILLS)
    expect(lines.at(-1)).toBe('ended done')
    expect(lines.filter((line) => line.startsWith('WRONG'))).toEqual([])
    const told = (what: string) =>
      new Set(lines.flatMap((line) => (line.startsWith(what) ? [line.slice(what.length + 1)] : [])))
    const routed = told('routed')
    expect([...told('resolved')].filter((url) => !routed.has(url))).toEqual([])
    const everything = HOSTS.flatMap((host) => PATHS.map((path) => site.url(path, host)))
    expect(everything.filter((url) => !routed.has(url))).toEqual([])
  })
})
