/** `kumo crawl` in its own process, against sites on loopback: its output and exit code. */

import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { askedPaths, linkedPages, linksTo, site } from '../../crawler/support.js'
import type { LoopbackSite } from '../../loopback/site.js'
import { type RunOptions, runProgram } from '../../run-program.js'

const kumo = (args: readonly string[], options?: RunOptions) =>
  runProgram('src/cli/main.ts', ['crawl', ...args], options)

/** Lines, with the address of the site cut out. */
const linesOf = (text: string, { url }: LoopbackSite) => text.replaceAll(url(''), '').trimEnd().split('\n')

/** Calls `act` once, as soon as the output fits. */
function once(fits: RegExp, act: (child: ChildProcess) => void) {
  let isDone = false
  return (printed: string, child: ChildProcess) => {
    if (isDone || !fits.test(printed)) return
    isDone = true
    act(child)
  }
}

/** Longer than the echo of a Ctrl-C that is passed on twice. */
const UNMISTAKABLE_MS = 500

describe('kumo crawl', () => {
  test('lists pages and failures, then prints a summary', async () => {
    const home = linksTo('/a', '/gone', 'https://elsewhere.example/')
    const small = await site({ '/': `<title>Home \x1b[31m</title>${home}`, '/a': '<title>A</title>' })
    const { code, stdout, stderr } = await kumo([small.url(), '--delay', '1ms'])
    expect(code).toBe(0)
    expect(linesOf(stdout, small)).toEqual([
      '200  /  Home �[31m',
      '200  /a  A',
      '404  /gone  failed: http-status',
    ])
    expect(linesOf(stderr, small)).toEqual([
      expect.stringMatching(/^Done: 2 pages; 1 host visited, \d+ bytes, [\d.]+ s \([\d.]+ pages\/s\)\.$/),
      'Skipped: scope 1.',
      '1 failed:',
      expect.stringMatching(/^ {2}1 {2}http-status {2}127\.0\.0\.1:\d+ answered with status 404$/),
    ])
  })

  test('--json prints one line per page and failure and nothing else', async () => {
    const small = await site({ '/': `<title>Home</title>${linksTo('/a', '/gone')}`, '/a': 'no title' })
    const { code, stdout, stderr } = await kumo([small.url(), '--json', '--quiet', '--delay', '1ms'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [home, a, gone, ...rest] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(rest).toEqual([])
    expect(home).toEqual({
      type: 'page',
      id: expect.stringMatching(/^[\da-f]{16}$/),
      url: small.url(),
      change: 'new',
      status: 200,
      title: 'Home',
      depth: 0,
      parent: null,
      label: null,
      mediaType: 'text/html',
      bytes: expect.any(Number),
      fetchedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
    expect(a).toMatchObject({ url: small.url('/a'), title: '', depth: 1, parent: small.url(), bytes: 8 })
    expect(gone).toEqual({
      type: 'failure',
      url: small.url('/gone'),
      status: 404,
      code: 'http-status',
      message: expect.stringContaining('404'),
      attempt: 0,
      depth: 1,
      parent: small.url(),
      label: null,
    })
  })

  test('--rounds reports changes of known pages', async () => {
    const pages: Record<string, string> = { '/': linksTo('/a', '/b'), '/a': 'a', '/b': 'b' }
    const small = await site(pages)
    const folder = mkdtempSync(join(tmpdir(), 'kumo-cli-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const pass = () => kumo([small.url(), '--delay', '1ms', '--store', folder, '--rounds', '1'])
    expect((await pass()).stdout.split('\n').filter((line) => line.startsWith('200'))).toHaveLength(3)
    pages['/b'] = 'b, with news'
    expect((await pass()).stdout).toBe(`200  ${small.url('/b')}  (changed)\n`)
  })

  test('--quiet alone prints nothing', async () => {
    const small = await site({ '/': linksTo('/gone') })
    expect(await kumo([small.url(), '-q', '--delay', '1ms'])).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  test('options reach the crawl', async () => {
    const small = await site({ ...linkedPages(9), '/robots.txt': 'User-agent: *\nDisallow: /' })
    const options = [
      '--no-robots',
      '--delay',
      '0',
      '--exclude',
      '/2',
      '--limit',
      '3',
      '--user-agent',
      'Mine/1',
    ]
    const fields = ['--format', 'csv', '--fields', 'url,label', '--label', 'given']
    const { code, stdout, stderr } = await kumo([small.url(), ...options, ...fields, '--header', 'X-Key: 1'])
    expect(code).toBe(0)
    expect(linesOf(stdout, small)).toEqual(['url,label', '/,given', '/1,', '/3,'])
    expect(stderr).toMatch(/^Limit reached: 3 pages; /)
    expect(stderr).toContain('\n5 URLs still pending. Use --store DIR to be able to resume a crawl.')
    expect(small.requests[0]).toMatchObject({ path: '/', headers: { 'user-agent': 'Mine/1', 'x-key': '1' } })
  })

  test('--seeds - reads standard input; what is not a URL there is a failure', async () => {
    const small = await site({ '/a': 'a', '/b': 'b' })
    const input = `# two\n${small.url('/a')}\n\nnonsense\n${small.url('/b')}\n`
    const { code, stdout } = await kumo(['--seeds', '-', '--depth', '0', '--delay', '1ms'], { input })
    expect(code).toBe(0)
    expect(linesOf(stdout, small).sort()).toEqual([
      "---  'nonsense'  failed: invalid-seed: not an absolute http(s) URL: 'nonsense'",
      '200  /a',
      '200  /b',
    ])
  })

  test.each<[why: string, routes: Record<string, string>, expected: RegExp]>([
    ['it is not there', {}, /\n1 failed:\n {2}1 {2}http-status /],
    [
      'robots.txt closes it',
      { '/': 'x', '/robots.txt': 'User-agent: *\nDisallow: /' },
      /\nSkipped: robots 1\./,
    ],
  ])('exits with 1 if no page was fetched because %s', async (_, routes, expected) => {
    const small = await site(routes)
    const { code, stderr } = await kumo([small.url(), '--delay', '1ms'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^Done: no pages; /)
    expect(stderr).toMatch(expected)
  })

  test('a crawl that fails prints its code and message, without a stack', async () => {
    expect(await kumo(['--seeds', '.'])).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^KUMO_SEEDS_FAILED: .*directory.*\n$/),
    })
  })

  test('a closed pipe ends the crawl without a stack', async () => {
    const many = await site(linkedPages(200))
    const { code, stderr } = await kumo([many.url(), '--delay', '5ms'], {
      onOutput: once(/\n/, (child) => child.stdout!.destroy()),
    })
    expect(code).toBe(0)
    expect(stderr).toMatch(/^Aborted: \d+ pages?; /)
    expect(many.requests.length).toBeLessThan(100)
  })
})

describe('kumo crawl, interrupted', () => {
  test('Ctrl-C lets requests in flight finish and says what a second one does', async () => {
    const slow = await site({
      ...linkedPages(20),
      '/1': (_, response) => void setTimeout(() => response.end('<title>late</title>'), 1000),
    })
    const { code, stdout, stderr } = await kumo([slow.url(), '--delay', '100ms'], {
      onOutput: once(/\n/, (child) => {
        const waiting = setInterval(() => {
          if (!askedPaths(slow).includes('/1')) return
          clearInterval(waiting)
          child.kill('SIGINT')
        }, 10)
      }),
    })
    expect(code).toBe(0)
    expect(linesOf(stdout, slow)).toEqual(['200  /  /', '200  /1  late'])
    expect(linesOf(stderr, slow)).toEqual([
      'Stopping: waiting for requests in flight. Press Ctrl-C again to abort them.',
      expect.stringMatching(/^Stopped: 2 pages; /),
      '18 URLs still pending. Use --store DIR to be able to resume a crawl.',
    ])
  })

  test('a second one aborts them', async () => {
    const never = await site({ '/': linksTo('/never'), '/never': () => {} })
    const startedAt = performance.now()
    const { code, stderr } = await kumo([never.url(), '--delay', '1ms'], {
      onOutput: once(/\n/, (child) => void setTimeout(() => child.kill('SIGTERM'), UNMISTAKABLE_MS)),
      onErrors: once(/Stopping/, (child) => void setTimeout(() => child.kill('SIGINT'), UNMISTAKABLE_MS)),
    })
    expect(code).toBe(0)
    expect(stderr).toMatch(/^Stopping: .*\nAborting\.\nStopped: 1 page; .*\n1 URL still pending\. /)
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  })

  test('one that is passed on twice counts once', async () => {
    const slow = await site({
      '/': linksTo('/late'),
      '/late': (_, response) => void setTimeout(() => response.end('late'), 1500),
    })
    const { stdout, stderr } = await kumo([slow.url(), '--delay', '1ms'], {
      onOutput: once(/\n/, (child) => {
        setTimeout(() => child.kill('SIGINT'), UNMISTAKABLE_MS)
        setTimeout(() => child.kill('SIGINT'), UNMISTAKABLE_MS + 50)
      }),
    })
    expect(linesOf(stdout, slow)).toEqual(['200  /', '200  /late'])
    expect(stderr).not.toContain('Aborting')
  })
})

test('without a terminal, progress is a line every ten seconds', async () => {
  const slow = await site(linkedPages(13))
  const { stderr } = await kumo([slow.url(), '--delay', '1s'])
  const [progress, ...rest] = linesOf(stderr, slow)
  expect(progress).toMatch(/^\d+ pages · [\d.]+\/s · \d pending · 0 failed · bottleneck: politeness$/)
  expect(rest).toEqual([expect.stringMatching(/^Done: 13 pages; /)])
  expect(stderr).not.toContain('\x1b')
})
