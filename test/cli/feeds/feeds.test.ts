/** `kumo feeds`: new articles as lines or JSON, once and again. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { site } from '../../crawler/support.js'
import { type RunOptions, runProgram } from '../../run-program.js'

const kumo = (args: readonly string[], options?: RunOptions) => runProgram('src/cli/main.ts', args, options)

const item = (n: number) =>
  `<item><guid>id-${n}</guid><link>/${n}</link><title>Post\u0007 ${n}</title><pubDate>Wed, 01 May 2024 10:0${n}:00 GMT</pubDate></item>`
const rss = (...numbers: number[]) =>
  `<rss version="2.0"><channel><title>News</title>${numbers.map(item).join('')}</channel></rss>`

describe('kumo feeds', () => {
  test('finds the feed of a site, prints its articles and ends with --once', async () => {
    const news = await site({
      '/': '<link rel="alternate" type="application/rss+xml" href="/feed">',
      '/feed': rss(2, 1),
    })
    const { code, stdout, stderr } = await kumo(['feeds', news.url('/'), '--once', '--delay', '0'])
    expect(stdout.split('\n')).toEqual([
      `2024-05-01 10:01  Post\ufffd 1  ${news.url('/1')}`,
      `2024-05-01 10:02  Post\ufffd 2  ${news.url('/2')}`,
      '',
    ])
    expect(stderr).toMatch(/^1 feed, 0 failing; 1 poll, /m)
    expect(code).toBe(0)
  })

  test('follows until Ctrl-C, as JSON, and a store remembers what was printed', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'kumo-cli-'))
    onTestFinished(() => rm(parent, { recursive: true }))
    let last = 1
    const news = await site({
      '/feed': (_, response) => {
        const numbers = Array.from({ length: last }, (_, n) => last - n)
        response.setHeader('content-type', 'application/rss+xml').end(rss(...numbers))
      },
    })
    const command = ['feeds', news.url('/feed'), '--json', '--store', join(parent, 'store')]
    const pace = ['--min', '1s', '--max', '1s', '--delay', '0', '--quiet']
    let isStopped = false
    const first = await kumo([...command, ...pace], {
      onOutput(stdout, child) {
        last = 3
        if (isStopped || stdout.trimEnd().split('\n').length < 3) return
        isStopped = true
        child.kill('SIGINT')
      },
    })
    expect(first.code).toBe(0)
    const lines = first.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(lines).toMatchObject([{ id: 'id-1' }, { id: 'id-2' }, { id: 'id-3' }])
    expect(lines[0]).toMatchObject({
      feed: news.url('/feed'),
      feedTitle: 'News',
      url: news.url('/1'),
      author: null,
    })
    last = 4
    const second = await kumo([...command, ...pace, '--once'])
    expect(
      second.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ).toMatchObject([{ id: 'id-4' }])
    const inspected = await kumo(['inspect', join(parent, 'store')])
    expect(inspected.stdout).toMatch(/^Feeds\n {2}1 feed followed, 0 failing, 0 ended\n/m)
    expect(inspected.stdout).toContain(news.url('/feed'))
  })

  test('says what is wrong', async () => {
    const none = await site({ '/': 'no feed here' })
    expect(await kumo(['feeds', none.url('/'), '--once', '--delay', '0'])).toMatchObject({
      code: 1,
      stderr: 'No feed was found.\n',
    })
    expect(await kumo(['feeds'])).toMatchObject({ code: 2, stderr: expect.stringContaining('no URL given') })
    const wrong = await kumo(['feeds', none.url('/'), '--budget', 'much'])
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^kumo feeds: --budget: got "?'?much/),
    })
  })
})
