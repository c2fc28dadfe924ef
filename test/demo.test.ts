/** Runs the demo as a user does, and checks that its summary is right. */

import { describe, expect, onTestFinished, test } from 'vitest'
import { startSite } from './loopback/site.js'
import { type RunOptions, runProgram } from './run-program.js'

const demo = (args: readonly string[], options?: RunOptions) =>
  runProgram('examples/demo/main.ts', args, { ...options, asSource: true })

describe('npm run demo', () => {
  test('crawls a local web and prints a summary', async () => {
    const { code, stdout, stderr } = await demo(['--hosts', '20', '--pages', '9'])
    expect(stderr).toBe('')
    expect(code).toBe(0)
    const lines = stdout.split('\n')
    expect(lines[0]).toBe('Crawling a local web of 20 hosts and 180 pages from 1 seed, at least 200 ms')
    expect(stdout).toMatch(
      /^\d+ pages · [\d.]+\/s · \d+ hosts · \d+ pending · \d+ in flight · bottleneck: \w+$/m,
    )
    expect(stdout).toMatch(/^160 pages from 20 hosts in [\d.]+ s$/m)
    expect(stdout).toMatch(/^[\d.]+ pages\/s, 1\.6 MB of bodies$/m)
    expect(stdout).toMatch(/^ {2}politeness {2}█+.* +\d+ %$/m)
    expect(stdout).toMatch(/^Bottleneck: politeness\n {2}Most slots wait/m)
    expect(stdout).toMatch(/^ {2}20 {2}robots {2}disallowed by robots\.txt/m)
    expect(lines).toContain('Failed: none')
    expect(lines).toContain('  configured delay         200.0 ms')
    for (const side of ["crawler's", "server's "]) {
      const gap = new RegExp(`^ {2}shortest gap, ${side} +([\\d.]+) ms$`, 'm').exec(stdout)?.[1]
      expect(Number(gap)).toBeGreaterThanOrEqual(200)
      expect(Number(gap)).toBeLessThan(20_000)
    }
    expect(lines).toContain('  gaps below the delay     0')
    expect(lines).toContain('  overlapping visits       0')
    expect(stdout).not.toContain('\x1b')
  })

  test('uses several hosts if loopback has a single address', async () => {
    const { code, stdout } = await demo(['--hosts', '3', '--pages', '3'], {
      env: { KUMO_DEMO_ONE_ADDRESS: '1' },
    })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Crawling a local web of 3 hosts and 9 pages from 3 seeds/)
    expect(stdout).toMatch(/^9 pages from 3 hosts in/m)
    expect(stdout).toMatch(/overlapping visits {7}0\n/)
  })

  test('crawls the given URLs', async () => {
    const site = await startSite({ '/': '<a href="/a">a</a><a href="/gone">b</a>', '/a': 'end' })
    onTestFinished(() => site.close())
    const { code, stdout } = await demo([site.url()])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^2 pages from 1 host in/m)
    expect(stdout).toMatch(/^Failed\n {2}1 {2}http-status {2}.*404/m)
    expect(stdout).not.toContain("server's")
    expect(site.requests[0]!.headers['user-agent']).toMatch(/^KumoDemo\//)
  })

  test('Ctrl-C ends it with a summary', async () => {
    const pages = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`/${i}`, 'page']))
    const links = Object.keys(pages).map((path) => `<a href="${path}">x</a>`)
    const site = await startSite({ '/': links.join(''), ...pages })
    onTestFinished(() => site.close())
    let interrupted = false
    const { code, stdout } = await demo([site.url()], {
      onOutput: (printed, child) => {
        if (interrupted || !/^[2-9] pages ·/m.test(printed)) return
        interrupted = true
        child.kill('SIGINT')
      },
    })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^[2-9] pages from 1 host in/m)
    expect(stdout).toContain('\nStopping once the visits in flight have finished.')
    expect(stdout).toContain('\nThe crawl was stopped.\n')
  })

  test('says so if no page was fetched', async () => {
    const site = await startSite({})
    onTestFinished(() => site.close())
    const { code, stdout, stderr } = await demo([site.url()])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^Failed\n {2}1 {2}http-status {2}.*404/m)
    expect(stderr).toBe('No page was fetched. The summary above says why.\n')
  })

  test('--help lines up', async () => {
    const { stdout } = await demo(['--help'])
    const columns = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.search(/(?<= {2})\S/))
    expect(columns).toEqual([38, 38, 38, 38, 38])
  })

  test.each([
    [['not a url'], /^seeds: got 'not a url'; allowed: absolute http\(s\) URLs/],
    [['--hosts', 'many'], /^--hosts: got 'many'; allowed: a whole number/],
    [['--host', '3'], /^Unknown option '--host'/],
  ])('%j is rejected with a message', async (args, message) => {
    const { code, stdout, stderr } = await demo(args)
    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain('    at ')
  })
})
