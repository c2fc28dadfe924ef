/** A schedule of known pages on disk: killed without warning again and again, it forgets no page and no host's pause. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startSite } from '../loopback/site.js'
import { runProgram } from '../run-program.js'
import { isThorough } from '../thorough.js'

const HOSTS = ['127.0.0.1', '127.0.3.1', '127.0.3.2', '127.0.3.3']
const PAGES = 8
const DELAY_MS = 40
const KILLS = isThorough ? 5 : 3
/** How long each life lasts once it has asked for something. */
const LIFE_MS = 1200

describe.each([0, 2])('with %i workers', (workers) => {
  test(`${KILLS} kills: every page is visited in every life, and what changed meanwhile is told`, {
    timeout: 120_000,
  }, async () => {
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

    const lives: { requests: typeof site.requests; lines: string[] }[] = []
    for (let life = 0; life <= KILLS; life++) {
      const before = site.requests.length
      version++
      let timer: NodeJS.Timeout | undefined
      const watching = setInterval(() => {
        if (site.requests.length > before) timer ??= setTimeout(() => child?.kill('SIGKILL'), LIFE_MS)
      }, 5)
      let child: { kill(signal: 'SIGKILL'): void } | undefined
      const ended = runProgram('test/durability/refresh-program.ts', [site.url(), folder, String(workers)], {
        onStart: (started) => {
          child = started
        },
      })
      const { stdout, stderr } = await ended
      clearInterval(watching)
      clearTimeout(timer)
      expect(stderr).toBe('')
      lives.push({ requests: site.requests.slice(before), lines: stdout.trim().split('\n') })
    }

    const everything = [site.url('/'), ...HOSTS.flatMap((host) => paths.map((path) => site.url(path, host)))]
    for (const [life, { requests, lines }] of lives.entries()) {
      const asked = new Set(requests.map(({ host, path }) => site.url(path, host)))
      expect([life, everything.filter((url) => !asked.has(url))]).toEqual([life, []])
      if (life === 0) continue
      // The pages that changed while nobody looked; a page may be told twice, for its first telling was not committed.
      const changed = new Set(lines.filter((line) => line.startsWith('changed')).map((line) => line.slice(8)))
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
