/** Every example is executed against a site on loopback, and what it prints is what it promises. */

import type { ChildProcess } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { durableStoreSuite, seenStoreSuite, storeSuite } from 'kumo/conformance'
import { parseFeed } from 'kumo/feeds'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { meilisearchDouble, openSearchDouble } from './hooks/sinks/web/doubles.js'
import { type Route, startSite } from './loopback/site.js'
import { PROJECT, type RunOptions, runProgram } from './run-program.js'
import { RedisServer, whyNoRedis } from './stores/redis/server.js'

const FOLDER = join(PROJECT, 'examples')
const NAMES = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.slice(0, -'.ts'.length))

/** An example is read in one go, or it is about two things. */
const MOST_LINES = 60
/** A durable store is a frontier, a seen-set and the way back after a crash: less would be no example of one. */
const MORE_LINES: Record<string, number> = { 'custom-store': 100 }
/** Everyday tasks take few lines, or the library lacks something. */
const EVERYDAY = [
  ...['broken-links', 'enqueue', 'host-delay', 'json-lines-and-csv', 'markdown-export', 'pdf-text'],
  ...[
    'language-scope',
    'login',
    'priority',
    'retry-failed',
    'routes',
    'search-form',
    'site-search',
    'structured-data',
  ],
]
const EVERYDAY_LINES = 25

const scratch = mkdtempSync(join(tmpdir(), 'kumo-examples-'))
let files = 0
const newFile = () => join(scratch, `${files++}.log`)
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const anchor = (href: string) => `<a href="${href}">${href}</a>`
const html = (title: string, ...hrefs: string[]) =>
  `<title>${title}</title><h1>${title}</h1><p>Some words <img src="x.png">${hrefs.map(anchor).join(' ')}`

const rss = (title: string, ...numbers: number[]) =>
  `<rss version="2.0"><channel><title>${title.replace('&', '&amp;')}</title>${numbers
    .map(
      (n) =>
        `<item><guid>${n}</guid><link>/${n}</link><title>Post ${n}</title><pubDate>Wed, 01 May 2024 10:0${n}:00 GMT</pubDate></item>`,
    )
    .join('')}</channel></rss>`

/** A PDF of one page with one line. */
function smallPdf(line: string): string {
  const content = `BT /F1 12 Tf 20 50 Td (${line}) Tj ET`
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 100] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ]
  let pdf = '%PDF-1.4\n'
  const offsets = objects.map((object, i) => {
    const offset = pdf.length
    pdf += `${i + 1} 0 obj\n${object}\nendobj\n`
    return `${String(offset).padStart(10, '0')} 00000 n \n`
  })
  const xref = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join('')}`
  return `${pdf}${xref}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${pdf.length}\n%%EOF\n`
}

/** Runs an example against a site, whose address is cut out of what it printed, for short expectations. */
async function run(name: string, routes: Record<string, Route>, start = '/', options: RunOptions = {}) {
  const site = await startSite(routes)
  try {
    const { code, stdout, stderr } = await runProgram(`examples/${name}.ts`, [site.url(start)], options)
    expect(stderr).toBe('')
    expect(code).toBe(0)
    const lines = stdout.replaceAll(site.url(''), '').trimEnd().split('\n')
    return { lines, asked: site.requests.map(({ path }) => path) }
  } finally {
    await site.close()
  }
}

const TWO_PAGES = { '/': html('Home', '/a'), '/a': html('A') }

/** Archives a site of two pages with the example, and returns its URL. */
async function withArchive(folder: string): Promise<string> {
  const site = await startSite(TWO_PAGES)
  const { code, stdout, stderr } = await runProgram('examples/archive.ts', [site.url(), folder])
  await site.close()
  expect([code, stderr]).toEqual([0, ''])
  const lines = stdout.replaceAll(site.url(), '/').trimEnd().split('\n')
  expect(lines).toEqual(['404 /robots.txt', '200 /', '200 /a'])
  return site.url()
}

const CASES: Record<string, () => Promise<void>> = {
  async 'quick-start'() {
    const pages = { '/': html('Home', '/a', '/gone', 'https://elsewhere.example/'), '/a': html('About') }
    // As its reader would: npx tsx examples/quick-start.ts
    const { lines } = await run('quick-start', pages, '/', { asSource: true })
    expect(lines).toEqual([
      '200 / Home',
      '200 /a About',
      expect.stringMatching(/^http-status \/gone .*404/),
      '2 pages, 1 failed; it ended with: done',
    ])
  },

  async 'all-cores'() {
    const { lines } = await run('all-cores', { '/': html('Home', '/a'), '/a': '<p>no heading here' })
    expect(lines.slice(0, 2)).toEqual([
      expect.stringMatching(/^\/: Home, read by thread [1-9]\d*$/),
      expect.stringMatching(/^\/a: \(no headings\), read by thread [1-9]\d*$/),
    ])
    expect(lines.at(-1)).toMatch(/^2 pages: \d( \+ \d)*$/)
  },

  async cluster() {
    if (whyNoRedis() !== undefined) return
    const server = await RedisServer.start()
    try {
      const pages = { '/': html('Home', '/a'), '/a': html('About') }
      const { lines } = await run('cluster', pages, '/', { env: { REDIS_URL: server.url } })
      expect(lines).toEqual(['/', '/a', 'this process read 2 pages; the crawl ended with: done'])
    } finally {
      await server.stop()
    }
  },

  async 'async-iteration'() {
    const { lines, asked } = await run('async-iteration', {
      '/': html('Home', '/1', '/2', '/3', '/4'),
      '/1': html('One', '/5'),
      '/2': html('Two'),
      '/3': html('Three'),
    })
    expect(lines.slice(0, 3)).toEqual(['/ has 4 links', '  /1 has 1 links', '  /2 has 0 links'])
    expect(lines[3]).toMatch(/^read 3 pages; [23] known URLs were left$/)
    expect(asked).not.toContain('/4')
  },

  async 'typed-extraction'() {
    const { lines } = await run('typed-extraction', { '/': html('Home', '/a'), '/a': '<p>no heading here' })
    expect(lines).toEqual(['/: "Home", 4 words, 1 images', '/a: "(no heading)", 3 words, 0 images'])
  },

  async 'broken-links'() {
    const { lines, asked } = await run('broken-links', {
      '/': html('Home', '/a', '/gone', '/moved', 'http://10.0.0.1/'),
      '/a': html('A', '/gone', '/gone', '/moved'),
      '/moved': { status: 301, headers: { location: '/lost' } },
    })
    expect(lines.sort()).toEqual([
      expect.stringMatching(/^\/gone: .* status 404 \/ \/a$/),
      expect.stringMatching(/^\/lost: .* status 404 \/ \/a$/),
      // A link to another site is checked too; this one leads into a private network.
      expect.stringMatching(/^http:\/\/10\.0\.0\.1\/: .* \/$/),
    ])
    expect(asked).toContain('/lost')
  },

  async routes() {
    const { lines } = await run('routes', {
      '/': `<title>Lamps</title><p class=product><a href=1>one</a></p>${anchor('/blog/a')}${anchor('/b')}`,
      '/1': html('One'),
      '/blog/a': html('A post', '/1'),
      '/b': html('B'),
    })
    expect(lines.sort()).toEqual(['other /b', 'post A post', "product One of { list: 'Lamps' }"])
  },

  async enqueue() {
    const site = await startSite({
      '/': `<p class=next data-url="/2"></p>${anchor('/a')}`,
      '/2': html('Two'),
      '/a': html('A'),
      '/more': html('More'),
    })
    const args = [site.url(), site.url('/more')]
    const { code, stdout, stderr } = await runProgram('examples/enqueue.ts', args)
    await site.close()
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.replaceAll(site.url(''), '').trimEnd().split('\n')
    expect(lines.slice(0, -1).sort()).toEqual(['/ first', '/2 next', '/a link', '/more added'])
    expect(lines.at(-1)).toBe('4 pages')
  },

  async 'host-delay'() {
    const site = await startSite({ '/': html('Home', '/a'), '/a': html('A') })
    const slow = site.url('/', '127.0.0.2')
    const { code, stdout, stderr } = await runProgram('examples/host-delay.ts', [site.url(), slow])
    await site.close()
    expect([code, stderr]).toEqual([0, ''])
    const pause = (url: string) => Number(stdout.split(`${url} after `)[1]!.split(' ')[0])
    expect(stdout.trimEnd().split('\n')).toHaveLength(4)
    expect(pause(site.url('/a', '127.0.0.2'))).toBeGreaterThanOrEqual(500)
    expect(pause(site.url('/a'))).toBeGreaterThanOrEqual(100)
  },

  async 'search-form'() {
    const search: Route = (request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (text: string) => (body += text))
      request.on('end', () => {
        const q = new URLSearchParams(body).get('q')
        response.setHeader('content-type', 'text/html')
        response.end(`<a class=result href="/${q}">${q}</a>`)
      })
    }
    const site = await startSite({ '/search': search, '/lamp': html('A lamp'), '/chair': html('A chair') })
    const args = [site.url('/search'), 'lamp', 'chair']
    const { code, stdout, stderr } = await runProgram('examples/search-form.ts', args)
    await site.close()
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.replaceAll(site.url(''), '').trimEnd().split('\n').sort()).toEqual([
      '/chair A chair',
      '/lamp A lamp',
      "POST { q: 'chair' } 1 results",
      "POST { q: 'lamp' } 1 results",
    ])
  },

  async 'retry-failed'() {
    const routes: Record<string, Route> = { '/': html('Home', '/a'), '/a': { status: 503 } }
    const site = await startSite(routes)
    const folder = newFile()
    const crawl = async () => {
      const { code, stdout, stderr } = await runProgram('examples/retry-failed.ts', [site.url(), folder])
      expect([code, stderr]).toEqual([0, ''])
      return stdout.replaceAll(site.url(''), '').trimEnd().split('\n')
    }
    expect(await crawl()).toEqual(['page /', 'http-status /a on /', '1 pages so far, 1 failed'])
    routes['/a'] = html('A')
    expect(await crawl()).toEqual(['page /a', expect.stringMatching(/^2 pages so far, /)])
    await site.close()
  },

  async 'markdown-export'() {
    const words = 'Some words about lamps, and why they shine. '.repeat(20)
    const site = await startSite({
      '/': `<title>Lamps</title><nav>${anchor('/a')}</nav><main><h1>Lamps</h1><p>${words}<a href=/a>more</a></p></main>`,
      '/a': html('A'),
    })
    const folder = newFile()
    const { code, stdout, stderr } = await runProgram('examples/markdown-export.ts', [site.url(), folder])
    await site.close()
    expect([code, stderr]).toEqual([0, ''])
    const [, file = ''] = stdout.split('\n')[0]!.split(' -> ')
    const text = readFileSync(join(folder, file), 'utf8')
    expect(text.startsWith(`---\nurl: "${site.url()}"\ntitle: "Lamps"\n---\n\n# Lamps\n\nSome words`)).toBe(
      true,
    )
    expect(text).toContain(`[more](${site.url('/a')})`)
  },

  async 'site-search'() {
    const folder = newFile()
    const site = await startSite({ '/': html('Home', '/tea'), '/tea': html('Green tea') })
    const { code, stdout, stderr } = await runProgram('examples/site-search.ts', [site.url(), 'tea', folder])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.replaceAll(site.url(''), '')).toMatch(/^2 pages\nGreen tea \/tea/)
    await site.close()
  },

  async 'pdf-text'() {
    const { lines } = await run('pdf-text', {
      '/': html('Home', '/a.pdf'),
      '/a.pdf': { headers: { 'content-type': 'application/pdf' }, body: smallPdf('Hello from a PDF') },
    })
    expect(lines).toEqual(['/a.pdf, 1 pages: Hello from a PDF'])
  },

  async 'json-lines-and-csv'() {
    const name = newFile()
    const site = await startSite({ '/': html('Home', '/a'), '/a': html('One, "two"') })
    const { code, stderr } = await runProgram('examples/json-lines-and-csv.ts', [site.url(), name])
    expect([code, stderr]).toEqual([0, ''])
    const read = (path: string) =>
      readFileSync(path, 'utf8').replaceAll(site.url(''), '').trimEnd().split(/\r?\n/)
    expect(read(`${name}.jsonl`).map((line) => JSON.parse(line))).toEqual([
      { url: '/', status: 200, title: 'Home' },
      { url: '/a', status: 200, title: 'One, "two"' },
    ])
    expect(read(`${name}.csv`)).toEqual(['url,status,title', '/,200,Home', '/a,200,"One, ""two"""'])
    await site.close()
  },

  async 'link-graph'() {
    const folder = newFile()
    const site = await startSite({ '/': html('Home', '/a', '/gone'), '/a': html('A', '/') })
    const { code, stdout, stderr } = await runProgram('examples/link-graph.ts', [site.url(), folder])
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.replaceAll(site.url(''), '').trimEnd().split('\n')
    expect(lines[0]).toBe('/gone: 404, on /')
    expect(lines.slice(1)).toEqual([
      expect.stringMatching(/^0\.\d{3} \/$/),
      expect.stringMatching(/^0\.\d{3} \//),
      expect.stringMatching(/^0\.\d{3} \//),
    ])
    await site.close()
  },

  async 'ranked-search'() {
    const folder = newFile()
    const site = await startSite({
      '/': '<title>Home</title><a href="/a">everything on lamps</a>',
      '/a': html('Nothing of that'),
    })
    const { code, stdout, stderr } = await runProgram('examples/ranked-search.ts', [
      site.url(),
      'anchors:lamps',
      folder,
    ])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.replaceAll(site.url(''), '').trimEnd()).toBe('Nothing of that /a')
    await site.close()
  },

  async 'to-a-database'() {
    const path = newFile()
    const site = await startSite({ '/': html('Home', '/a'), '/a': html('Spiders') })
    const { code, stdout, stderr } = await runProgram('examples/to-a-database.ts', [site.url(), path])
    expect([code, stderr, stdout]).toEqual([0, '', `2 pages in ${path}\n`])
    const database = new Database(path)
    const found = database.prepare("SELECT title FROM pages_search WHERE pages_search MATCH 'spiders'").all()
    expect(found.map((row) => (row as { title: string }).title)).toEqual(['Spiders'])
    database.close()
    await site.close()
  },

  async 'to-a-search-engine'() {
    const site = await startSite({ '/': html('Home', '/a'), '/a': html('Spiders') })
    const [bulk, meili] = [await openSearchDouble(), await meilisearchDouble()]
    const env = { MEILI_KEY: 'key' }
    for (const [kind, { url }] of Object.entries({ opensearch: bulk, meilisearch: meili })) {
      const args = [site.url(), kind, url]
      const { code, stdout, stderr } = await runProgram('examples/to-a-search-engine.ts', args, { env })
      expect([code, stderr, stdout]).toEqual([0, '', `2 pages in ${kind}, 0 could not be written\n`])
    }
    const titles = (docs: Iterable<Record<string, unknown>>) => [...docs].map(({ title }) => title).sort()
    expect(titles(bulk.indexes.get('pages')!.values())).toEqual(['Home', 'Spiders'])
    expect(titles(meili.documents.values())).toEqual(['Home', 'Spiders'])
    await site.close()
  },

  async 'to-a-webhook'() {
    const site = await startSite({ '/': html('Home', '/a'), '/a': html('Spiders') })
    const { code, stdout, stderr } = await runProgram('examples/to-a-webhook.ts', [site.url()])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.replaceAll(site.url(''), '').trimEnd().split('\n')).toEqual(['/ Home', '/a Spiders'])
    await site.close()
  },

  async login() {
    const isIn = (cookie: string | undefined) => cookie === 'session=1'
    const inside =
      (title: string, ...hrefs: string[]): Route =>
      ({ headers: { cookie } }, response) => {
        response.writeHead(isIn(cookie) ? 200 : 401, { 'content-type': 'text/html' })
        response.end(html(title, ...hrefs))
      }
    const login: Route = (request, response) => {
      if (request.method !== 'POST') {
        response.setHeader('content-type', 'text/html')
        response.end(
          '<form method=post><input type=hidden name=token value=t><input name=user><input type=password name=password>',
        )
        return
      }
      let body = ''
      request.setEncoding('utf8').on('data', (text: string) => (body += text))
      request.on('end', () => {
        const isRight = body === 'token=t&user=alice&password=secret'
        response
          .writeHead(303, { location: '/', ...(isRight && { 'set-cookie': 'session=1; HttpOnly' }) })
          .end()
      })
    }
    const { lines, asked } = await run('login', {
      '/login': login,
      '/': inside('Home', '/account', '/logout'),
      '/account': inside('Account'),
      '/logout': 'bye',
    })
    expect(lines).toEqual(['/ Home', '/account Account', '2 pages as alice'])
    expect(asked.filter((path) => path === '/login')).toHaveLength(2)
    expect(asked).not.toContain('/logout')
  },

  async priority() {
    const { lines } = await run('priority', {
      '/': html('Home', '/archive/1', '/a', '/news/1'),
      '/archive/1': html('Old'),
      '/a': html('A'),
      '/news/1': html('New'),
    })
    expect(lines).toEqual(['0 /', '10 /news/1', '0 /a', '-10 /archive/1'])
  },

  async 'language-scope'() {
    const english =
      '<p>This page is written in plain English, with enough words to tell its language.</p>'.repeat(5)
    const german =
      '<p>Diese Seite ist auf Deutsch geschrieben und hat genug Wörter für eine Antwort.</p>'.repeat(5)
    const site = await startSite({
      '/': `<html lang=en><title>Home</title>${english}${anchor('/en')}${anchor('/de')}`,
      '/en': `<html lang=en><title>English</title>${english}`,
      '/de': `<html lang=de><title>Deutsch</title>${german}${anchor('/hidden')}`,
    })
    const args = [site.url(), 'jp', 'en']
    const { code, stdout, stderr } = await runProgram('examples/language-scope.ts', args)
    await site.close()
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.replaceAll(site.url(''), '').trimEnd().split('\n').sort()).toEqual([
      'language /de',
      'page / Home',
      'page /en English',
    ])
  },

  async 'structured-data'() {
    const product = { '@context': 'https://schema.org', '@type': 'Product', name: 'Lamp' }
    const { lines } = await run('structured-data', {
      '/': `<meta property="og:image" content="/lamp.png"><script type="application/ld+json">${JSON.stringify(product)}</script>`,
    })
    expect(lines).toEqual(['/ Product Lamp', expect.stringMatching(/^\/ image .*\/lamp\.png$/)])
  },

  async 'many-hosts'() {
    const site = await startSite({ '/': html('Home', '/a'), '/a': html('A') })
    const list = newFile()
    const hosts = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
    writeFileSync(list, hosts.map((host) => `${site.url('/', host)}\n`).join(''))
    const { code, stdout } = await runProgram('examples/many-hosts.ts', [list])
    expect(code).toBe(0)
    const lines = stdout.trimEnd().split('\n')
    expect(lines.slice(0, -1).sort()).toEqual(
      hosts.flatMap((host) => [site.url('/', host), site.url('/a', host)]).sort(),
    )
    expect(lines.at(-1)).toBe('6 pages from 3 hosts, 0 URLs failed')
    await site.close()
  },

  async archive() {
    const folder = mkdtempSync(join(scratch, 'archive-'))
    await withArchive(folder)
  },

  async replay() {
    const folder = mkdtempSync(join(scratch, 'replay-'))
    const url = await withArchive(folder)
    // The site is gone by now.
    const { stdout, stderr } = await runProgram('examples/replay.ts', [url, folder])
    expect(stderr).toBe('')
    expect(stdout.replaceAll(url, '/').trimEnd().split('\n')).toEqual(['/ 1', '/a 1'])
  },

  async cache() {
    const folder = mkdtempSync(join(scratch, 'cache-'))
    const site = await startSite(TWO_PAGES)
    const first = await runProgram('examples/cache.ts', [site.url(), folder])
    await site.close()
    const second = await runProgram('examples/cache.ts', [site.url(), folder])
    expect([first.stderr, second.stderr]).toEqual(['', ''])
    expect(first.stdout.replaceAll(site.url(), '/').trimEnd().split('\n')).toEqual(['/ 4', '/a 3'])
    expect(second.stdout).toBe(first.stdout)
  },

  async mirror() {
    const routes: Record<string, Route> = {
      '/': '<link rel=stylesheet href=/style.css><img src="/a%2e%2e/x.png"><a href="/b?q=1">b</a>',
      '/style.css': 'p {}',
      '/a../x.png': { headers: { 'content-type': 'image/png' }, body: 'PNG' },
      '/b?q=1': html('B'),
    }
    const site = await startSite(routes)
    const folder = newFile()
    const copy = async () => {
      const { code, stdout, stderr } = await runProgram('examples/mirror.ts', [site.url(), folder])
      expect([code, stderr]).toEqual([0, ''])
      return stdout.trimEnd().split('\n')
    }
    const lines = await copy()
    const files = join(folder, 'files', new URL(site.url()).host.replace(':', '_'))
    expect(lines.slice(0, -1).sort()).toEqual(
      ['/index.html', '/style.css', '/a../x.png', '/b%3Fq%3D1'].map((path) => files + path).sort(),
    )
    expect(lines.at(-1)).toMatch(/^4 files, \d+ bytes; it ended with: done$/)
    expect(readFileSync(`${files}/style.css`, 'utf8')).toBe('p {}')
    expect((await copy()).at(-1)).toMatch(/^4 files, .*already-done$/)
    await site.close()
  },

  async 'pdfs-and-media'() {
    const pdf = '%PDF-1.7 a small one'
    const site = await startSite({
      '/': '<a href="/a.pdf">a</a> <a href="/b.png">b</a> <a href="/c.zip">c</a>',
      '/a.pdf': { headers: { 'content-type': 'application/pdf' }, body: pdf },
      '/b.png': { headers: { 'content-type': 'image/png' }, body: 'PNG' },
      '/c.zip': { headers: { 'content-type': 'application/zip' }, body: 'PK' },
    })
    const folder = newFile()
    const { code, stdout, stderr } = await runProgram('examples/pdfs-and-media.ts', [site.url(), folder])
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.replaceAll(site.url(''), '').trimEnd().split('\n')
    expect(lines).toEqual([expect.stringMatching(/^\/a\.pdf -> .*\.pdf$/), '/b.png: 3 bytes'])
    expect(readFileSync(lines[0]!.split(' -> ')[1]!, 'utf8')).toBe(pdf)
    await site.close()
  },

  async 'crawl-delay'() {
    const { lines } = await run('crawl-delay', {
      '/robots.txt': 'User-agent: *\nCrawl-delay: 0.4',
      '/': html('Home', '/a', '/b'),
      '/a': html('A'),
      '/b': html('B'),
    })
    expect(lines.slice(0, -1)).toEqual(['/', '/a', '/b'])
    const [, ms] = /^the shortest pause between two visits was (\d+) ms$/.exec(lines.at(-1)!)!
    expect(Number(ms)).toBeGreaterThanOrEqual(400)
  },

  async 'http-service'() {
    const site = await startSite({ '/': html('Home', '/a'), '/a': html('A') })
    let ended: Promise<unknown> = Promise.resolve()
    const [address, child] = await new Promise<[string, ChildProcess]>((resolve) => {
      ended = runProgram('examples/http-service.ts', ['0'], {
        onOutput: (stdout, child) => resolve([stdout.replace('listening on ', '').trim(), child]),
      })
    })
    const ask = async (path: string, method = 'GET', body: string | null = null) =>
      (await fetch(address + path, { method, body })).json() as Promise<{ pages?: number }>
    expect(await ask('/crawls', 'POST', 'no url')).toEqual({
      error: expect.stringMatching(/^seeds: got 'no url'/),
    })
    expect(await ask('/crawls', 'POST', site.url())).toEqual({ crawl: 1 })
    while ((await ask('/crawls/1')).pages !== 2) await wait(100)
    expect(await ask('/crawls/2')).toEqual({ error: 'no such crawl' })
    expect(await ask('/crawls/1', 'DELETE')).toMatchObject({ pages: 2 })
    child.kill()
    await ended
    await site.close()
  },

  async 'custom-scope'() {
    const { lines } = await run('custom-scope', {
      '/': html(
        'Home',
        '/a?x=1',
        '/a?x=1&y=2&z=3',
        '/a/print/b',
        '/login',
        '/b.pdf',
        'https://elsewhere.example/',
      ),
      '/a': html('A'),
    })
    expect(lines.filter((line) => line.startsWith('page'))).toEqual(['page /', 'page /a?x=1'])
    expect(lines.filter((line) => line.startsWith('skip')).sort()).toEqual([
      'skip (scope) /a/print/b',
      'skip (scope) /a?x=1&y=2&z=3',
      'skip (scope) /b.pdf',
      'skip (scope) /login',
      'skip (scope) https://elsewhere.example/',
    ])
    expect(lines.at(-1)).toBe('2 pages; skipped by scope: 5')
  },

  async 'custom-seen-set'() {
    const { lines } = await run('custom-seen-set', {
      '/': html('Home', '/b', '/a', '/'),
      '/a': 'a',
      '/b': 'b',
    })
    expect(lines).toEqual(['3 pages fetched, 3 URLs known:', '/', '/a', '/b'])
  },

  async 'custom-store'() {
    const site = await startSite({
      '/': html('Home', '/a', '/b', '/c'),
      '/a': html('A'),
      '/b': html('B'),
      '/c': html('C'),
    })
    const log = newFile()
    const crawl = async (options: RunOptions = {}) => {
      const { code, stdout } = await runProgram('examples/custom-store.ts', [site.url(), log], options)
      return { code, lines: stdout.replaceAll(site.url(''), '').trimEnd().split('\n') }
    }
    const killed = await crawl({
      onOutput: (stdout, child) => {
        if (stdout.split('\n').length === 3) child.kill('SIGKILL')
      },
    })
    expect(killed.code).toBeNull()
    expect(killed.lines).toEqual(['/ Home', '/a A'])
    // A line that the kill cut off.
    appendFileSync(log, '[[{"url":"https://')

    const { code, lines } = await crawl()
    expect(code).toBe(0)
    // Whether the page at which it was killed comes again depends on which was faster.
    expect(lines.filter((line) => line !== '/a A').slice(0, -1)).toEqual(['/b B', '/c C'])
    expect(lines.at(-1)).toMatch(/^[23] pages, 0 URLs left; it ended with: done$/)

    expect((await crawl()).lines).toEqual(['0 pages, 0 URLs left; it ended with: done'])
    await site.close()
  },

  async refresh() {
    const steady: Route = ({ headers }, response) => {
      const isKnown = headers['if-none-match'] === '"1"'
      response.writeHead(isKnown ? 304 : 200, { etag: '"1"', 'content-type': 'text/html' })
      response.end(isKnown ? '' : html('A'))
    }
    const routes: Record<string, Route> = { '/': html('Home', '/a', '/b'), '/a': steady, '/b': html('B') }
    const site = await startSite(routes)
    const folder = newFile()
    const round = async () => {
      const { code, stdout, stderr } = await runProgram('examples/refresh.ts', [site.url(), folder])
      expect([code, stderr]).toEqual([0, ''])
      return stdout.replaceAll(site.url(''), '').trimEnd().split('\n')
    }
    const [first, ...more] = await round()
    expect([first, more.slice(0, -1).sort(), more.at(-1)]).toEqual([
      'new / Home',
      ['new /a A', 'new /b B'],
      '0 unchanged, 0 of them by status 304',
    ])
    routes['/b'] = html('B, again')
    expect(await round()).toEqual([
      'changed /b B, again',
      expect.stringMatching(/^2 unchanged, [01] of them by status 304$/),
    ])
    // In this round, one page has a tag, and now and then it is read as a whole.
    for (let i = 0; i < 2; i++) {
      expect(await round()).toEqual([expect.stringMatching(/^3 unchanged, [01] of them by status 304$/)])
    }
    await site.close()
  },
  async 'resumable-crawl'() {
    const pages = Object.fromEntries(['/a', '/b', '/c', '/d'].map((path) => [path, html(path)]))
    const site = await startSite({ '/': html('Home', ...Object.keys(pages)), ...pages })
    const folder = newFile()
    const crawl = async (options: RunOptions = {}) => {
      const { code, stdout, stderr } = await runProgram(
        'examples/resumable-crawl.ts',
        [site.url(), folder],
        options,
      )
      expect(stderr).toBe('')
      const lines = stdout.replaceAll(site.url(''), '').trimEnd().split('\n')
      return {
        code,
        first: lines[0],
        paths: lines.slice(1, -1).map((line) => line.slice(17)),
        last: lines.at(-1),
      }
    }
    const killed = await crawl({
      onOutput: (stdout, child) => {
        if (stdout.split('\n').length === 5) child.kill('SIGKILL')
      },
    })
    expect(killed).toMatchObject({ code: null, first: 'starting a new crawl', paths: ['/', '/a'] })
    expect(killed.last).toMatch(/^\w{16} \/b$/)

    // Whether the page at which it was killed comes again depends on which was faster.
    const { code, first, paths, last } = await crawl()
    expect(code).toBe(0)
    expect(first).toMatch(/^resuming after 1 runs: (2 pages done, 3|3 pages done, 2) URLs pending$/)
    expect(paths.filter((path) => path !== '/b')).toEqual(['/c', '/d'])
    expect(last).toBe('ended with: done; 5 pages in all, 0 URLs left')
    const asked = site.requests.map(({ path }) => path)
    const repeated = first?.includes('2 pages') ? ['/b'] : []
    expect(asked).toEqual(['/robots.txt', '/', '/a', '/b', ...repeated, '/c', '/d'])

    expect(await crawl()).toMatchObject({
      first: 'resuming after 2 runs: 5 pages done, 0 URLs pending',
      last: 'ended with: already-done; 5 pages in all, 0 URLs left',
    })
    expect(site.requests).toHaveLength(asked.length)
    await site.close()
  },

  async 'seeds-in-chunks'() {
    const site = await startSite({
      '/1': html('1', '/3'),
      '/2': html('2'),
      '/3': html('3'),
      '/4': html('4', '/1'),
    })
    const table = newFile()
    // On the second day there is a URL that a link led to on the first, one that an earlier row had, and a new one.
    const urls = ['/1', '/2', '/3', '/1', '/4'].map((path) => site.url(path))
    writeFileSync(table, urls.map((url, i) => `${JSON.stringify({ id: i + 1, url })}\n`).join(''))
    const folder = newFile()
    const day = async () => {
      const { code, stdout, stderr } = await runProgram('examples/seeds-in-chunks.ts', [table, folder, '2'])
      expect(stderr).toBe('')
      expect(code).toBe(0)
      return stdout.replaceAll(site.url(''), '').trimEnd().split('\n')
    }
    expect(await day()).toEqual(['/1', '/2', '/3', 'rows 1 to 2: done; 3 pages and 3 URLs so far'])
    expect(await day()).toEqual(['rows 3 to 4: already-done; 3 pages and 3 URLs so far'])
    expect(await day()).toEqual(['/4', 'rows 5 to 5: done; 4 pages and 4 URLs so far'])
    expect(site.requests.map(({ path }) => path)).toEqual(['/robots.txt', '/1', '/2', '/3', '/4'])
    await site.close()
  },

  async 'feed-reader'() {
    let last = 2
    const site = await startSite({
      '/': '<link rel="alternate" type="application/rss+xml" href="/feed">',
      '/feed': (_, response) => {
        const numbers = Array.from({ length: last }, (_, n) => last - n)
        response.setHeader('content-type', 'application/rss+xml').end(rss('News', ...numbers))
      },
    })
    const folder = newFile()
    const read = (args: string[], onOutput: RunOptions['onOutput']) =>
      runProgram('examples/feed-reader.ts', [site.url('/'), folder, ...args], {
        ...(onOutput && { onOutput }),
      })
    const killed = await read(['1s'], (stdout, child) => {
      if (stdout.includes('Post 2')) child.kill('SIGKILL')
    })
    last = 4
    let isStopped = false
    const second = await read(['1s'], (stdout, child) => {
      if (!stdout.includes('Post 4') || isStopped) return
      isStopped = true
      child.kill('SIGINT')
    })
    await site.close()
    expect(second).toMatchObject({ code: 0, stderr: '' })
    const lines = `${killed.stdout}${second.stdout}`.trimEnd().split('\n')
    expect(lines.at(-1)).toMatch(/^1 feeds, \d polls, \d new since the first$/)
    // What was not stored before the kill comes again, with the same key.
    const articles = new Set(lines.slice(0, -1).map((line) => line.replaceAll(site.url(''), '')))
    expect([...articles].sort((a, b) => a.slice(17).localeCompare(b.slice(17)))).toEqual(
      [1, 2, 3, 4].map((n) => expect.stringMatching(new RegExp(`^[0-9a-f]{16} Post ${n} /${n}$`))),
    )
  },

  async 'news-monitor'() {
    const site = await startSite({
      '/feed': { headers: { 'content-type': 'application/rss+xml' }, body: rss('News', 2, 1) },
      '/1': `<title>1</title><p>${'Nothing much happened today. '.repeat(20)}`,
      '/2': `<title>2</title><p>${'Some say so. '.repeat(20)}The weather was bad. ${'Others do not. '.repeat(20)}`,
    })
    const args = ['weather', newFile(), site.url('/feed')]
    const { code, stdout, stderr } = await runProgram('examples/news-monitor.ts', args)
    await site.close()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe(`2024-05-01T10:02:00.000Z Post 2 ${site.url('/2')} – The weather was bad.\n`)
  },

  async planet() {
    const headers = { 'content-type': 'application/rss+xml' }
    const site = await startSite({
      '/a': { headers, body: rss('A & B', 1, 3) },
      '/b': { headers, body: rss('Second', 2) },
    })
    const args = [newFile(), site.url('/a'), site.url('/b')]
    const first = await runProgram('examples/planet.ts', args)
    // Nothing is due, and the planet is still there.
    const second = await runProgram('examples/planet.ts', args)
    await site.close()
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(second).toEqual(first)
    const { entries } = parseFeed(first.stdout)
    expect(entries.map(({ title }) => title)).toEqual(['A & B: Post 3', 'Second: Post 2', 'A & B: Post 1'])
    expect(site.requests.filter(({ path }) => path !== '/robots.txt')).toHaveLength(2)
  },

  async 'extractor-plugin'() {
    const { lines } = await run(
      'extractor-plugin',
      { '/links.txt': '# my links\n/a\n\nsub/b\n', '/a': html('A'), '/sub/b': html('B') },
      '/links.txt',
    )
    expect(lines).toEqual(['/links.txt lists 2 links', '/a A', '/sub/b B', '1 lists were read'])
  },

  async 'stopping-and-limits'() {
    const pages = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`/${i}`, html(`${i}`)]))
    const site = { '/': html('Home', ...Object.keys(pages)), ...pages }
    const [limited, stopped] = await Promise.all([
      run('stopping-and-limits', site),
      run('stopping-and-limits', site, '/', {
        onOutput: (stdout, child) => {
          if (stdout.split('\n').length === 3) child.kill('SIGINT')
        },
      }),
    ])
    expect(limited.lines.at(-1)).toBe('ended with: limit; 5 pages, 5 URLs left')
    expect(stopped.lines.at(-1)).toBe('ended with: stopped; 2 pages, 8 URLs left')

    let program: ChildProcess | undefined
    const interruptTwice = () => {
      program?.kill('SIGINT')
      setTimeout(() => program?.kill('SIGINT'), 300)
    }
    // A page that never comes would hold up a gentle stop for the thirty seconds of its timeout.
    const startedAt = performance.now()
    const hurried = await run(
      'stopping-and-limits',
      { '/': html('Home', '/never'), '/never': interruptTwice },
      '/',
      { onOutput: (_, child) => void (program = child) },
    )
    expect(hurried.lines.at(-1)).toBe('ended with: stopped; 1 pages, 1 URLs left')
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  },
}

describe('examples', () => {
  test('each has a test, and each test an example', () => {
    expect(Object.keys(CASES).sort()).toEqual([...NAMES].sort())
  })

  test('examples/README.md lists each', () => {
    const list = readFileSync(join(FOLDER, 'README.md'), 'utf8')
    for (const name of NAMES) expect(list).toContain(`[${name}.ts](${name}.ts)`)
  })

  test.each(NAMES)('%s is short', (name) => {
    const lines = readFileSync(join(FOLDER, `${name}.ts`), 'utf8')
      .trimEnd()
      .split('\n')
    const most = EVERYDAY.includes(name) ? EVERYDAY_LINES : (MORE_LINES[name] ?? MOST_LINES)
    expect(lines.length).toBeLessThanOrEqual(most)
  })

  for (const [name, check] of Object.entries(CASES)) {
    test.concurrent(`${name} does what it says`, check)
  }
})

describe("the seen-set of examples/custom-seen-set.ts, by its contract's suite", () => {
  let example: typeof import('../examples/custom-seen-set.js')

  beforeAll(async () => {
    // Importing the example runs it, so it is given something to crawl.
    const site = await startSite({ '/': 'one page' })
    process.argv[2] = site.url()
    example = await import('../examples/custom-seen-set.js')
    await site.close()
  })

  seenStoreSuite({ it, create: () => new example.ListedSeen() })
})

describe('the store of examples/custom-store.ts, by the suites of its contract', () => {
  let example: typeof import('../examples/custom-store.js')

  beforeAll(async () => {
    const site = await startSite({ '/': 'one page' })
    process.argv[2] = site.url()
    process.argv[3] = newFile()
    example = await import('../examples/custom-store.js')
    await site.close()
  })

  storeSuite({ it, durable: true, create: () => example.logStore(newFile()) })

  durableStoreSuite({
    it,
    create() {
      let log = newFile()
      const store = example.logStore(log)
      const crash = () => {
        const copy = newFile()
        copyFileSync(log, copy)
        log = copy
        return example.logStore(copy)
      }
      return { store, crash }
    },
  })
})
