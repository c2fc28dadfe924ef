/** A schedule of known pages on disk: killed without warning again and again, it forgets no page and no host's pause. */

import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startSite } from '../loopback/site.js'
import { runProgram } from '../run-program.js'
import { isThorough } from '../thorough.js'
import { moments } from './support.js'

const HOSTS = ['127.0.0.1', '127.0.3.1', '127.0.3.2', '127.0.3.3']
const PAGES = 8
const DELAY_MS = 40
const KILLS = isThorough ? 5 : 2
/** A life that has done its part lasts up to this long, so that kills come at any moment of a commit. */
const LONGER_MS = 300

/** The pages that were told as changed. */
function changedIn(printed: string): Set<string> {
  return new Set([...printed.matchAll(/^changed (.+)$/gm)].map(([, url]) => url!))
}

describe.each([0, 2])('with %i workers', (workers) => {
  test(`${KILLS} kills: every page is visited in every life, and what changed meanwhile is told`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kumo-refresh-kills-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    let version = 0
    const paths = Array.from({ length: PAGES }, (_, i) => `/${i}`)
    const site = await startSite({
      '/': (_, response) => {
        const links = HOSTS.flatMap((host) => paths.map((path) => site.url(path, host)))
        response.writeHead(200, { 'content-type': 'text/html' })
        response.end(links.map((link) => `<a href="${link}">x</a>`).join(''))
      },
      ...Object.fromEntries(paths.map((path) => [path, { body: `${path} stays` }])),
      '/0': (_, response) => {
        response
          .writeHead(200, { 'content-type': 'text/html', etag: `"${version}"` })
          .end(`version ${version}`)
      },
    })
    onTestFinished(() => site.close())

    const everything = [site.url('/'), ...HOSTS.flatMap((host) => paths.map((path) => site.url(path, host)))]
    const chance = moments()
    const lives: { requests: typeof site.requests; lines: string[] }[] = []
    for (let life = 0; life <= KILLS; life++) {
      const before = site.requests.length
      version++
      // Twice: a page that is asked for again was settled a while ago, and the life before has to remember it.
      const hasSeenAll = () => {
        const times = new Map<string, number>()
        for (const { host, path } of site.requests.slice(before)) {
          const url = site.url(path, host)
          times.set(url, (times.get(url) ?? 0) + 1)
        }
        return everything.every((url) => (times.get(url) ?? 0) >= 2)
      }
      const wantsChanges = life === 0 ? 0 : HOSTS.length
      let printed = ''
      let child: ChildProcess | undefined
      let timer: NodeJS.Timeout | undefined
      const watching = setInterval(() => {
        if (changedIn(printed).size < wantsChanges || !hasSeenAll()) return
        clearInterval(watching)
        timer = setTimeout(() => child?.kill('SIGKILL'), chance.next() * LONGER_MS)
      }, 5)
      const args = [site.url(), folder, String(workers)]
      const { stdout, stderr } = await runProgram('test/durability/refresh-program.ts', args, {
        onStart: (started) => {
          child = started
        },
        onOutput: (all) => {
          printed = all
        },
      })
      clearInterval(watching)
      clearTimeout(timer)
      expect(stderr).toBe('')
      lives.push({ requests: site.requests.slice(before), lines: stdout.trim().split('\n') })
    }

    for (const [life, { requests, lines }] of lives.entries()) {
      const asked = new Set(requests.map(({ host, path }) => site.url(path, host)))
      expect([life, everything.filter((url) => !asked.has(url))]).toEqual([life, []])
      if (life === 0) continue
      // The pages that changed while nobody looked; a page may be told twice, for its first telling was not committed.
      const changed = changedIn(lines.join('\n'))
      expect([life, [...changed].sort()]).toEqual([life, HOSTS.map((host) => site.url('/0', host)).sort()])
      expect(lines.filter((line) => line.startsWith('gone'))).toEqual([])
    }
    for (const host of HOSTS) {
      const times = site.requests.filter((request) => request.host === host).map(({ at }) => at)
      const gaps = times.slice(1).map((at, i) => at - times[i]!)
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(DELAY_MS - 1)
    }
  })
})
