/** Every option calls a builder method; invalid values are rejected with the option as it was typed. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Crawler } from 'kumo'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type CrawlCommandLine, readCrawlCommandLine } from '../../../src/cli/crawl/command-line.js'
import { TEXT } from '../../../src/cli/crawl/formats.js'
import { CRAWL_OPTIONS } from '../../../src/cli/crawl/options.js'
import { UsageError } from '../../../src/cli/usage-error.js'
import type { CrawlOptions } from '../../../src/options/options.js'

const URL = 'https://example.com/'

const order = (...args: string[]) => readCrawlCommandLine([URL, ...args])

/** The options that the builder holds; they are private otherwise. */
function optionsOf(crawler: Crawler): CrawlOptions {
  return (crawler as unknown as { options: CrawlOptions }).options
}

const names = (rules: readonly { name: string }[]) => rules.map(({ name }) => name)

/** Arguments, what to look at, and the expected value. */
const ROWS: [
  args: string[],
  look: (options: CrawlOptions, order: CrawlCommandLine) => unknown,
  expected: unknown,
][] = [
  [['--store', './crawl'], ({ store }) => store?.name, 'level'],
  [['--store', './crawl', '--resume', 'must'], ({ store }) => store?.name, 'level'],
  [['--store', './crawl', '--durability', 'machine'], ({ store }) => store?.name, 'level'],
  [['--store', './crawl', '--repair'], ({ store }) => store?.name, 'level'],
  [['--store', './crawl', '--rounds', '2'], ({ refresh }) => refresh?.rounds, 2],
  [['--label', 'list'], ({ seeds }) => JSON.stringify(seeds).includes('list'), true],
  [['--seeds', '-'], ({ seeds }) => seeds.length, 2],
  [['--scope', 'host'], ({ scope }) => scope?.name, 'same host'],
  [['--include', '/a/**', '--include', '/b'], ({ include }) => include.length, 2],
  [['--exclude', '/login/**'], ({ exclude }) => names(exclude)[0], expect.stringContaining('/login/**')],
  [['--block', 'ads.example'], ({ block }) => names(block)[0], expect.stringContaining('ads.example')],
  [['--depth', '3'], ({ depth }) => depth, 3],
  [['--depth', '1', '--depth', '2'], ({ depth }) => depth, 2],
  [['--no-sitemaps'], ({ sitemaps }) => sitemaps.read, false],
  [['--limit', '1e3'], ({ limit }, { pageLimit }) => [limit.pages, pageLimit], [1000, 1000]],
  [['--limit-time', '10m'], ({ limit }) => limit.timeMs, 600_000],
  [['--limit-per-host', '5'], ({ limit }) => limit.pagesPerHost, 5],
  [['--limit-requests', '6'], ({ limit }) => limit.requests, 6],
  [['--retry-failed', '--store', 'x'], ({ retryFailed }) => retryFailed, true],
  [['--delay', '250ms'], ({ delayMs }) => delayMs, 250],
  [['--delay', '0'], ({ delayMs }) => delayMs, 0],
  [['--concurrency', '7'], ({ concurrency }) => concurrency, 7],
  [['--per-host', '4'], ({ perHost }) => perHost.connections, 4],
  [['--user-agent', 'MyBot/1.0'], ({ userAgent }) => userAgent, 'MyBot/1.0'],
  [['--from', 'bot@example.com'], ({ access }) => access.from, 'bot@example.com'],
  [['--no-robots'], ({ robots }) => robots.obey, false],
  [['--header', 'X-Key: a:b'], ({ headers }) => headers, { 'x-key': 'a:b' }],
  [['--cookies'], ({ access }) => access.cookies, true],
  [['--proxy', 'http://proxy.example:3128'], ({ proxy }) => proxy, 'http://proxy.example:3128'],
  [['--timeout', '5s'], ({ timeout }) => timeout.fetchMs, 5000],
  [['--retries', '0'], ({ retries }) => retries.times, 0],
  [['--allow-private'], ({ access }) => access.allowPrivate, 'all'],
  [['--workers', '3'], ({ workers }) => workers.count, 3],
  [['--workers', 'auto'], ({ workers }) => workers.count > 0, true],
  [['--json'], (_, { format }) => format?.page === TEXT.page, false],
  [['--format', 'markdown', '--output', 'x'], (_, { format }) => format?.failure, TEXT.failure],
  [
    ['--format', 'csv', '--fields', 'url, headers.etag'],
    (_, { format }) => format?.header,
    'url,headers.etag',
  ],
  [['--health', '8080'], (_, { health }) => health, { host: '127.0.0.1', port: 8080 }],
  [['--health', '0.0.0.0:8080'], (_, { health }) => health?.host, '0.0.0.0'],
  [['--quiet'], (_, { isQuiet }) => isQuiet, true],
  [['-q'], (_, { isQuiet }) => isQuiet, true],
]

describe('kumo crawl', () => {
  test.each(ROWS)('%j', async (args, look, expected) => {
    const read = await order(...args)
    expect(look(optionsOf(read.crawler), read)).toEqual(expected)
  })

  test('every option has a row above, except --help, which main.ts handles', () => {
    const typed = ROWS.flatMap(([args]) => args.filter((arg) => arg.startsWith('--')))
    expect(Object.keys(CRAWL_OPTIONS).filter((name) => !typed.includes(`--${name}`))).toEqual(['help'])
  })

  test('keeps the command that resumes a stored crawl, quoted for a shell', async () => {
    expect((await order('--json')).command).toBeUndefined()
    const { command } = await order('--store', 'my crawl', '--limit', '5', '--exclude', '/a?b')
    expect(command!()).toBe("kumo crawl https://example.com/ --store 'my crawl' --limit 5 --exclude '/a?b'")
    expect(command!(10)).toContain(' --limit 10 ')
    expect((await order('--store', 'x', '--limit=5')).command!(10)).toContain(' --limit=10')
  })

  test('reads seeds from a file, one per line, without comments', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kumo-seeds-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'urls.txt')
    await writeFile(file, '# mine\r\nhttps://a.example/\r\n\r\n  https://b.example/  \n')
    const { seedFile } = await readCrawlCommandLine(['--seeds', file])
    const urls: string[] = []
    for await (const url of seedFile!.urls) urls.push(url)
    expect(urls).toEqual(['https://a.example/', 'https://b.example/'])
    seedFile!.close()
  })
})

describe('usage errors', () => {
  test.each<[args: string[], message: string]>([
    [[], 'no URL given; pass at least one, as in: kumo crawl https://example.com/'],
    [['example.com'], "'example.com' has no scheme; did you mean https://example.com?"],
    [['//example.com/a'], "'//example.com/a' has no scheme; did you mean https://example.com/a?"],
    [['localhost:3000/a'], "'localhost:3000/a' has no scheme; did you mean http://localhost:3000/a?"],
    [['not a url'], "'not a url' has no scheme; write it as in https://example.com/"],
    [['ftp://example.com/'], "'ftp://example.com/' is not an http or https URL"],
    [['mailto:me@example.com'], "'mailto:me@example.com' is not an http or https URL"],
    [['--seeds', 'no-such-file'], "--seeds: cannot read 'no-such-file': no such file or directory"],
    [[URL, '--resume', 'must'], '--resume is about a store: give --store DIR with it'],
    [[URL, '--store', 'x', '--resume', 'no'], "--resume: got 'no'; allowed: 'auto', 'never' or 'must'"],
    [[URL, '--store', 'x', '--durability', 'y'], "--durability: got 'y'; allowed: 'process' or 'machine'"],
    [
      [URL, '--scope', 'hots'],
      "--scope: got 'hots'; allowed: site, host, origin, path, all, or a glob (for the path: /hots; for the host: 'hots/**')",
    ],
    [[URL, '--exclude', '/a{b'], '--exclude: Invalid glob "/a{b": a "{" has no matching "}".'],
    [[URL, '--depth', '-1'], '--depth: got -1; allowed: a whole number, 0 or more, or Infinity'],
    [[URL, '--depth', 'deep'], "--depth: got 'deep'; allowed: a whole number, 0 or more, or Infinity"],
    [[URL, '--limit', '0'], '--limit: got 0; allowed: a whole number, 1 or more, or Infinity'],
    [
      [URL, '--limit-time', '10'],
      "--limit-time: got '10'; allowed: a number with a unit, such as 500ms, 5s, 2m, 1h",
    ],
    [[URL, '--delay', '5'], "--delay: got '5'; allowed: a number with a unit, such as 500ms, 5s, 2m, 1h"],
    [[URL, '--concurrency', '0'], '--concurrency: got 0; allowed: a whole number, 1 to 100000'],
    [[URL, '--from', 'me'], "--from: got 'me'; allowed: an e-mail address such as 'bot@example.com'"],
    [
      [URL, '--header', 'secret'],
      "--header: got a line without a name; allowed: 'Name: value', such as 'Accept-Language: ja'",
    ],
    [
      [URL, '--label', 'x'.repeat(201)],
      `--label: got '${'x'.repeat(80)}…'; allowed: a text of 1 to 200 characters`,
    ],
    [[URL, '--workers', 'many'], "--workers: got 'many'; allowed: a whole number, 0 to 1024, or 'auto'"],
    [[URL, '--format', 'cvs'], "--format: got 'cvs'; did you mean csv?"],
    [[URL, '--format', 'yaml'], "--format: got 'yaml'; allowed: text, jsonl, csv, markdown"],
    [[URL, '--format', 'csv', '--json'], '--json means --format jsonl; leave out --json or --format csv'],
    [
      [URL, '--json', '--output', 'x'],
      '--output is about --format markdown; to write jsonl to a file: > FILE',
    ],
    [[URL, '--json', '--fields', 'meta.autor'], "--fields: got 'meta.autor'; did you mean meta.author?"],
    [[URL, '--json', '--fields', 'url,titel'], "--fields: got 'titel'; did you mean title?"],
    [[URL, '--fields', 'url'], '--fields chooses what --format jsonl, csv or markdown prints: add --format'],
    [
      [URL, '--header', 'Host: a'],
      "--header: got 'Host'; allowed: headers that Kumo does not set itself; it follows from the URL",
    ],
  ])('%j', async (args, message) => {
    await expect(readCrawlCommandLine(args)).rejects.toThrow(new UsageError(message))
  })
})
