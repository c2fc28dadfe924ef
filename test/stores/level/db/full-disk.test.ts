/** A real disk that takes no more: the operating system bounds the size of a crawl's files, and lifts it again. Linux. */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { level } from 'kumo'
import { seededRandom } from 'kumo/adapters'
import { expect, onTestFinished, test } from 'vitest'
import { askedPaths, direct, linksTo, site, sleep } from '../../../crawler/support.js'
import type { Route } from '../../../loopback/site.js'
import { PROJECT } from '../../../run-program.js'
import { folder } from '../folders.js'

/** What the first page links to makes one commit of more than twice this. */
const MOST_BYTES = 128 * 1024
const COUNT = 400
const PATH_LENGTH = 800
const PATIENCE_MS = 300_000

/** Letters that cannot be compressed to much less. */
function longPaths(): string[] {
  const random = seededRandom(1)
  const letter = () => Math.floor(random.next() * 36).toString(36)
  return Array.from(
    { length: COUNT },
    (_, i) => `/${i}${Array.from({ length: PATH_LENGTH }, letter).join('')}`,
  )
}

/** `prlimit` is part of util-linux; without it this cannot be tested, and must not look as if it had been. */
function boundFiles(pid: number, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])
}

test('the crawl pauses while its files may not grow, and completes when they may', async () => {
  const paths = longPaths()
  const page: Route = 'page'
  const started = await site({
    '/': linksTo(...paths),
    ...Object.fromEntries(paths.map((path) => [path, page])),
  })
  const path = await folder()
  const program = fileURLToPath(new URL('./full-disk.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', program, path, started.url()], { cwd: PROJECT })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  let output = ''
  child.stdout.on('data', (data) => (output += data))
  child.stderr.on('data', (data) => (output += data))
  const told = async (what: RegExp) => {
    const deadline = Date.now() + PATIENCE_MS
    while (!what.test(output)) {
      if (Date.now() > deadline || child.exitCode !== null) throw new Error(`never told ${what}: ${output}`)
      await sleep(5)
    }
  }
  await told(/ready/)
  boundFiles(child.pid!, MOST_BYTES)
  child.stdin.write('go\n')
  await told(/paused: .*IO error: .*File too large.*The crawl is paused/)
  // What was in flight ends.
  await sleep(300)
  const asked = askedPaths(started).length
  await sleep(2500)
  expect(askedPaths(started)).toHaveLength(asked)
  expect(output).not.toContain('resumed')
  boundFiles(child.pid!, 'unlimited')
  await told(/resumed/)
  const [code] = await exited
  expect(output.split('\n').map((line) => line.replace(/:.*/, ''))).toEqual([
    'ready',
    'paused',
    'resumed',
    '{"reason"',
    '',
  ])
  expect(output).toContain(`{"reason":"done","pages":${COUNT + 1}}`)
  expect(code).toBe(0)
  expect(askedPaths(started)).toHaveLength(COUNT + 1)
  const again = await direct.seeds(started.url()).store(level(path)).run()
  expect(again).toMatchObject({ reason: 'already-done', pages: COUNT + 1, known: COUNT + 1 })
})
