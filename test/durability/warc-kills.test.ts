/** Killed without warning again and again while it writes, an archive has every page that was delivered. */

import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from 'kumo/adapters'
import { readWarc } from 'kumo/warc'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startSite } from '../loopback/site.js'
import { runProgram } from '../run-program.js'
import { isThorough } from '../thorough.js'

/** By workers. */
const KILLS: Readonly<Record<number, number>> = isThorough ? { 0: 20, 2: 6 } : { 0: 4 }
/** Twenty lives, each of which builds, starts and reads the archive. */
const CUT_OFF = /were cut off/

/** A page that no other is like, of 2 to 40 KB that compress badly, with links to the next pages. */
function pageOf(n: number, pages: number): string {
  const random = seededRandom(n)
  const words = Array.from({ length: 200 + (n % 7) * 600 }, () => random.next().toString(36).slice(2, 8))
  const links = [2 * n + 1, 2 * n + 2].map((next) => (next < pages ? `<a href="/${next}">${next}</a>` : ''))
  return `<title>${n}</title>${links.join('')}<p>${words.join(' ')}`
}

/** SHA-1 of the payloads in whole records, by URL; and what could not be read. */
async function archived(folder: string): Promise<{ digests: Map<string, Set<string>>; damage: number }> {
  const digests = new Map<string, Set<string>>()
  let damage = 0
  for await (const record of readWarc(folder)) {
    if (!record.ok || record.problems.length > 0) damage++
    else if (record.type === 'response') {
      const list = digests.get(record.url!) ?? new Set()
      digests.set(record.url!, list.add(createHash('sha1').update(record.http!.body).digest('hex')))
    } else if (record.type === 'revisit') {
      // Its payload is in the record that it refers to.
      const list = digests.get(record.url!) ?? new Set()
      const refersTo = record.fields.get('warc-refers-to-target-uri') ?? ''
      digests.set(record.url!, new Set([...list, ...(digests.get(refersTo) ?? [])]))
    }
  }
  return { digests, damage }
}

describe.each(Object.entries(KILLS).map(([workers, most]) => [Number(workers), most]))(
  'with %i workers',
  (workers, most) => {
    const PAGES = 120 * most

    test(`${most} kills: every delivered page is in a whole record`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'kumo-warc-kills-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      const routes = Object.fromEntries(Array.from({ length: PAGES }, (_, n) => [`/${n}`, pageOf(n, PAGES)]))
      const site = await startSite(routes)
      onTestFinished(() => site.close())
      const random = seededRandom(7 + workers)
      const delivered: string[] = []
      let kills = 0
      for (let life = 0; life <= most; life++) {
        const killAt =
          life < most ? site.requests.length + 5 + Math.floor(random.next() * 80) : Number.POSITIVE_INFINITY
        let watching: NodeJS.Timeout | undefined
        const args = [site.url('/0'), folder, String(workers)]
        const { stdout, stderr } = await runProgram('test/durability/warc-program.ts', args, {
          onStart: (child) => {
            watching = setInterval(() => site.requests.length >= killAt && child.kill('SIGKILL'), 1)
          },
        })
        clearInterval(watching)
        // What is cut off is reported, and nothing else is.
        for (const line of stderr.split('\n').filter((each) => each.includes('Warning')))
          expect(line).toMatch(CUT_OFF)
        if (life === most) expect(stdout + stderr).toContain('ended done')
        else if (!stdout.includes('ended')) kills++
        // A line that was cut off by the kill is not a promise.
        delivered.push(
          ...stdout
            .split('\n')
            .slice(0, -1)
            .filter((line) => line.startsWith('http')),
        )
        const { digests, damage } = await archived(join(folder, 'archive'))
        const missing = delivered.filter((line) => {
          const [url = '', digest = ''] = line.split(' ')
          return !digests.get(url)?.has(digest)
        })
        expect(missing).toEqual([])
        // At most one record of each worker.
        expect(damage).toBeLessThanOrEqual(Math.max(1, workers))
      }
      expect(kills).toBe(most)
      expect(new Set(delivered.map((line) => line.split(' ')[0])).size).toBe(PAGES)
      const { damage } = await archived(join(folder, 'archive'))
      expect(damage).toBe(0)
      expect(readdirSync(join(folder, 'archive')).filter((name) => name.endsWith('.open'))).toEqual([])
    })
  },
)
