import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { Crawler } from 'kumo'
import { seededRandom } from 'kumo/adapters'
import { warc } from 'kumo/warc'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HttpExchange } from '../../src/fetch/contract.js'
import { Archive } from '../../src/warc/archive.js'
import { CA, SERVER } from '../fetch/certificates/index.js'
import { type LoopbackSite, startSite } from '../loopback/site.js'
import {
  archive,
  BODIES,
  base32Sha1,
  crawlerOf,
  newFolder,
  recordsOf,
  startArchivedSite,
} from './archived-site.js'
import { readWithNodeWarc, readWithWarcio } from './other-readers.js'

let site: LoopbackSite

beforeAll(async () => {
  site = await startArchivedSite()
})
afterAll(() => site.close())

const pathOf = (url: string | undefined) => new URL(url ?? '').pathname
const bytesOf = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('latin1')

describe.each([true, false])('an archive (gzip: %s)', (gzip) => {
  it('has a request and a response for everything that was fetched', async () => {
    const records = await recordsOf(await archive(site, { gzip }))
    const [info, ...rest] = records
    expect(info?.type).toBe('warcinfo')
    expect(bytesOf(info?.block)).toContain('format: WARC file version 1.1')
    const responses = rest.filter(({ type }) => type === 'response' || type === 'revisit')
    const paths = responses.map(({ url }) => pathOf(url)).sort()
    expect(paths).toEqual([...Object.keys(BODIES), '/old'].sort())
    const requests = rest.filter(({ type }) => type === 'request')
    expect(requests.map(({ url }) => pathOf(url)).sort()).toEqual(paths)
    const answered = new Map(responses.map(({ id, url }) => [`<${id}>`, url]))
    for (const { fields, url } of requests)
      expect(answered.get(fields.get('warc-concurrent-to') ?? '')).toBe(url)
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length)
  })

  it('has payloads as the server sent them, with their digests', async () => {
    const records = await recordsOf(await archive(site, { gzip }))
    for (const { url, type, http, fields } of records) {
      if (type !== 'response') continue
      const body = BODIES[pathOf(url)] ?? Buffer.alloc(0)
      expect(Buffer.compare(Buffer.from(http!.body), body), pathOf(url)).toBe(0)
      expect(fields.get('warc-payload-digest')).toBe(`sha1:${base32Sha1(body)}`)
    }
  })

  it('has an index that leads to the records', async () => {
    const folder = await archive(site, { gzip })
    const index = readdirSync(folder).find((name) => name.endsWith('.cdxj'))!
    const lines = readFileSync(join(folder, index), 'utf8').trimEnd().split('\n')
    expect(lines).toEqual([...lines].sort())
    const records = await recordsOf(folder)
    for (const line of lines) {
      const [, , json = ''] = /^(\S+ \d{14}) (.*)$/.exec(line) ?? []
      const { url, offset, length, status, digest } = JSON.parse(json)
      const record = records.find((each) => each.offset === Number(offset))!
      expect(record.url).toBe(url)
      expect(record.length).toBe(Number(length))
      expect(String(record.http?.status)).toBe(status)
      expect(record.fields.get('warc-payload-digest')).toBe(`sha1:${digest}`)
    }
    expect(lines.length).toBe(records.filter(({ type }) => type === 'response' || type === 'revisit').length)
  })
})

describe('records', () => {
  it('are as they went over the wire', async () => {
    const records = await recordsOf(await archive(site))
    const chunked = records.find(({ url, type }) => type === 'response' && url?.endsWith('/chunked'))!
    const text = bytesOf(chunked.block)
    expect(text).toMatch(/^HTTP\/1\.1 200 Fine\r\nContent-Type: text\/html\r\n/)
    expect(text).toContain('Transfer-Encoding: chunked\r\n')
    expect(text).toContain('\r\n\r\n3e8\r\n<title>Chunked')
    expect(text.endsWith('0\r\n\r\n')).toBe(true)
    const plain = records.find(({ url, type }) => type === 'response' && url?.endsWith('/plain'))!
    expect(bytesOf(plain.block)).toContain('\r\nX-Odd-CASE: Kept As It Is\r\n')
    const request = records.find(({ url, type }) => type === 'request' && url?.endsWith('/plain'))!
    expect(bytesOf(request.block)).toMatch(/^GET \/plain HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\n/)
    expect(request.fields.get('warc-ip-address')).toBe('127.0.0.1')
  })

  it('of a payload that the archive has are revisits, also in another run', async () => {
    const folder = await archive(site)
    const twins = (await recordsOf(folder)).filter(
      ({ url, type }) => type !== 'request' && url?.includes('twin'),
    )
    expect(twins.map(({ type }) => type)).toEqual(['response', 'revisit'])
    const [first, second] = twins
    expect(second?.fields.get('warc-profile')).toBe(
      'http://netpreserve.org/warc/1.1/revisit/identical-payload-digest',
    )
    expect(second?.fields.get('warc-refers-to-target-uri')).toBe(first?.url)
    expect(second?.fields.get('warc-refers-to-date')).toBe(first?.fields.get('warc-date'))
    expect(second?.http?.body.length).toBe(0)
    await archive(site, {}, folder)
    const types = (await recordsOf(folder))
      .filter(({ url }) => url?.endsWith('/plain'))
      .map(({ type }) => type)
    expect(types).toEqual(['response', 'request', 'revisit', 'request'])
  })

  it('of unchanged pages are revisits', async () => {
    const folder = newFolder()
    const validated = await startSite({
      '/': (request, response) => {
        const isKnown = request.headers['if-none-match'] === '"1"'
        response.writeHead(isKnown ? 304 : 200, { etag: '"1"', 'content-type': 'text/html' })
        response.end(isKnown ? undefined : '<title>Same</title>')
      },
    })
    await new Crawler()
      .seeds(validated.url('/'))
      .delay(0)
      // Some visits are unconditional, to check what the server says.
      .refresh({ min: '10ms', max: '50ms', rounds: 12 })
      .use(warc(folder))
      .run()
    await validated.close()
    const visits = (await recordsOf(folder)).filter(
      ({ url, type }) => type !== 'request' && url?.endsWith('/'),
    )
    expect(visits.map(({ type }) => type)).toEqual(['response', ...new Array(11).fill('revisit')])
    const unchanged = visits.find(({ http }) => http?.status === 304)
    expect(unchanged?.fields.get('warc-profile')).toBe(
      'http://netpreserve.org/warc/1.1/revisit/server-not-modified',
    )
  })

  it('do not have credentials, unless they should', async () => {
    for (const credentials of [false, true]) {
      const folder = newFolder()
      await crawlerOf(site)
        .depth(0)
        .headers({ authorization: 'Bearer secret', 'x-other': 'shown' })
        .use(warc(folder, { credentials }))
        .run()
      const requests = (await recordsOf(folder))
        .filter(({ type }) => type === 'request')
        .map(({ block }) => bytesOf(block))
      expect(requests.every((text) => text.includes('x-other: shown'))).toBe(true)
      expect(requests.every((text) => text.includes('authorization: (hidden)'))).toBe(!credentials)
      expect(requests.some((text) => text.includes('secret'))).toBe(credentials)
    }
  })
})

describe('large records, which other threads compress', () => {
  const LARGE = `<title>Large</title>${'Words that differ '.repeat(3000)}`

  it('are in the file before their page is delivered, and before revisits of them', async () => {
    const folder = newFolder()
    const routes = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`/${i}`, LARGE]))
    const large = await startSite({
      '/': Object.keys(routes)
        .map((path) => `<a href="${path}">${path}</a>`)
        .join(''),
      ...routes,
    })
    const missing: string[] = []
    await new Crawler()
      .seeds(large.url('/'))
      .delay(0)
      .perHost({ connections: 16, growAt: 1 })
      .use(warc(folder))
      .use({
        name: 'reader',
        async page({ url }) {
          const seen = new Map((await recordsOf(folder)).map((record) => [record.url, record]))
          const record = seen.get(url)
          const payload = seen.get(record?.fields.get('warc-refers-to-target-uri') ?? url)
          if (record === undefined || payload === undefined) missing.push(url)
        },
      })
      .run()
    await large.close()
    expect(missing).toEqual([])
    const types = (await recordsOf(folder))
      .filter(({ url, type }) => /\/\d+$/.test(url ?? '') && type !== 'request')
      .map(({ type }) => type)
    expect(types).toEqual(['response', ...new Array(29).fill('revisit')])
  })

  const NOISE = randomBytes(20_000).toString('hex')
  const exchangeOf = (body: string): HttpExchange => {
    const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n'
    return {
      url: 'http://a.example/',
      id: '1',
      purpose: 'page',
      method: 'GET',
      status: 200,
      protocol: 'http/1.1',
      request: Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      response: Buffer.from(head + body),
      headBytes: head.length,
      body: Buffer.from(body),
      truncated: false,
      startedAt: 1_700_000_000_000,
      durationMs: 1,
      remoteAddress: undefined,
    }
  }
  const open = (folder: string, maxBytes: number) =>
    Archive.open(
      { folder, prefix: 'a', maxBytes, level: 5, credentials: false, info: {} },
      0,
      Date.now,
      seededRandom(1),
      () => {},
    )

  it('are waited for when the archive is closed', async () => {
    const folder = newFolder()
    const archived = await open(folder, 1e9)
    const writes = [1, 2, 2, 3].map((n) => archived.write(exchangeOf(`${n} ${LARGE}`)))
    expect(writes.every((write) => write instanceof Promise)).toBe(true)
    await archived.close()
    const captures = await Promise.all(writes)
    expect(captures.map(({ isRevisit }) => isRevisit)).toEqual([false, false, true, false])
    expect(captures[2]!.offset).toBeGreaterThan(captures[1]!.offset)
    expect((await recordsOf(folder)).length).toBe(1 + 2 * 4)
    expect(() => archived.write(exchangeOf(LARGE))).toThrow('closed')
  })

  it('that cannot be written are reported, and their payloads are not remembered', async () => {
    const folder = newFolder()
    const archived = await open(folder, 2000)
    await archived.write(exchangeOf('small'))
    rmSync(folder, { recursive: true })
    const writes = [archived.write(exchangeOf(NOISE)), archived.write(exchangeOf(NOISE))]
    const ended = await Promise.allSettled(writes)
    expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(archived.flush()).rejects.toThrow('ENOENT')
    await archived.flush()
    mkdirSync(folder)
    expect(await archived.write(exchangeOf(NOISE))).toMatchObject({ isRevisit: false })
    await archived.close()
  })
})

it('stores bodies that are compressed already', async () => {
  const folder = newFolder()
  const noise = randomBytes(30_000)
  const coded = await startSite({
    '/': { headers: { 'content-type': 'text/html', 'content-encoding': 'gzip' }, body: gzipSync(noise) },
  })
  await crawlerOf(coded).use(warc(folder)).run()
  await coded.close()
  const record = (await recordsOf(folder)).find(({ url }) => url === coded.url('/'))!
  expect(Buffer.from(record.http!.body).equals(gzipSync(noise))).toBe(true)
  expect(record.length).toBeLessThan(gzipSync(noise).length + 1000)
})

it('has exchanges over HTTP/2 as HTTP/1.1 would have written them, which others can read', async () => {
  const body = `<title>Two</title>${'Over one connection. '.repeat(500)}`
  const server = createSecureServer({ ...SERVER, allowHTTP1: true }, (request, response) => {
    const isCoded = request.url === '/coded'
    const headers = { 'content-type': 'text/html', ...(isCoded && { 'content-encoding': 'gzip' }) }
    response.writeHead(request.url === '/robots.txt' ? 404 : 200, headers)
    response.end(isCoded ? gzipSync(body) : `${body}<a href="/coded">c</a>`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const folder = newFolder()
  await new Crawler()
    .seeds(`https://127.0.0.1:${port}/`)
    .delay(0)
    .http2()
    .tls({ ca: CA })
    .use(warc(folder))
    .run()
  server.close()
  const records = await recordsOf(folder)
  const responses = records.filter(({ type }) => type === 'response')
  expect(responses.map(({ fields }) => fields.get('warc-protocol'))).toEqual(['h2', 'h2', 'h2'])
  const [, page, coded] = responses
  expect(bytesOf(page?.block)).toMatch(/^HTTP\/1\.1 200 \r\ncontent-type: text\/html\r\n/)
  expect(gunzipSync(coded!.http!.body).toString()).toBe(body)
  const file = join(folder, readdirSync(folder).find((name) => name.endsWith('.warc.gz'))!)
  for (const read of [readWithWarcio, readWithNodeWarc]) {
    const seen: (number | undefined)[] = []
    for await (const record of read(file)) {
      if (record.type !== 'response') continue
      seen.push(record.status)
      expect(record.digest).toBe(`sha1:${base32Sha1(record.payload)}`)
    }
    expect(seen).toEqual([404, 200, 200])
  }
})

describe('files', () => {
  it('are closed before they grow beyond the size', async () => {
    const folder = await archive(site, { size: 3000 })
    const names = readdirSync(folder).filter((name) => name.endsWith('.warc.gz'))
    expect(names.length).toBeGreaterThan(2)
    for (const name of names) expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(3000)
    const records = await recordsOf(folder)
    expect(records.filter(({ type }) => type === 'warcinfo').length).toBe(names.length)
    expect(readdirSync(folder).filter((name) => name.endsWith('.open'))).toEqual([])
  })

  it('of several workers are their own', async () => {
    const folder = newFolder()
    const hosts = Array.from({ length: 8 }, (_, i) => site.url('/', `127.0.0.${i + 1}`))
    await new Crawler()
      .seeds(...hosts)
      .delay(0)
      .retries({ times: 0 })
      .workers(2)
      .use(warc(folder))
      .run()
    const workers = new Set(readdirSync(folder).map((name) => /-(w\d)-/.exec(name)?.[1]))
    expect([...workers].sort()).toEqual(['w0', 'w1'])
    const responses = (await recordsOf(folder)).filter(
      ({ type }) => type === 'response' || type === 'revisit',
    )
    expect(responses.length).toBe(8 * (Object.keys(BODIES).length + 1))
  })
})

it.each([
  [['']],
  [[7]],
  [['./a', { size: '10 apples' }]],
  [['./a', { size: 10 }]],
  [['./a', { gzip: 12 }]],
  [['./a', { prefix: 'a/b' }]],
  [['./a', { info: { a: 1 } }]],
  [['./a', { zip: true }]],
] as unknown as [Parameters<typeof warc>][])('rejects %j', (given) => {
  expect(() => warc(...given)).toThrow(/^warc/)
})
