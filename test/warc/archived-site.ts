/** A small site whose answers differ in what archives find hard, and the crawl that archives it. */

import { createHash } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Crawler } from 'kumo'
import { readWarc, type WarcOptions, type WarcRecord, warc } from 'kumo/warc'
import { type LoopbackSite, type Route, startSite } from '../loopback/site.js'

const LONG = 'All work and no play makes Jack a dull boy. '.repeat(400)

/** Bodies as sent, before the transfer coding, by path. */
export const BODIES: Readonly<Record<string, Buffer>> = {
  '/': Buffer.from(
    '<title>Home</title><a href="/plain">a</a><a href="/gzip">b</a><a href="/chunked">c</a><a href="/old">d</a>' +
      '<a href="/twin-1">e</a><a href="/twin-2">f</a><a href="/missing">g</a><a href="/empty">h</a><a href="/utf-8">i</a>',
  ),
  '/plain': Buffer.from(`<title>Plain</title>${LONG}`),
  '/gzip': gzipSync(`<title>Compressed</title>${LONG}`),
  '/chunked': Buffer.from(`<title>Chunked</title>${LONG}`),
  '/new': Buffer.from('<title>New</title>'),
  '/twin-1': Buffer.from(`<title>Twin</title>${LONG}`),
  '/twin-2': Buffer.from(`<title>Twin</title>${LONG}`),
  '/missing': Buffer.from('<title>Not here</title>'),
  '/empty': Buffer.alloc(0),
  '/utf-8': Buffer.from('<title>蜘蛛</title>'),
  '/robots.txt': Buffer.from('User-agent: *\nDisallow: /private\n'),
}

const page = (path: string, headers: Record<string, string> = {}, status = 200): Route => ({
  status,
  headers: { 'X-Odd-CASE': 'Kept As It Is', 'content-length': String(BODIES[path]!.length), ...headers },
  body: BODIES[path]!,
})

const ROUTES: Record<string, Route> = {
  '/': page('/'),
  '/plain': page('/plain'),
  '/gzip': page('/gzip', { 'content-encoding': 'gzip' }),
  '/chunked': (_, response) => {
    response.writeHead(200, 'Fine', { 'Content-Type': 'text/html' })
    const body = BODIES['/chunked']!
    response.write(body.subarray(0, 1000))
    response.write(body.subarray(1000, 9000))
    response.end(body.subarray(9000))
  },
  '/old': { status: 301, headers: { location: '/new', 'content-length': '0' } },
  '/new': page('/new'),
  '/twin-1': page('/twin-1'),
  '/twin-2': page('/twin-2'),
  '/missing': page('/missing', {}, 404),
  '/empty': page('/empty'),
  '/utf-8': page('/utf-8'),
  '/robots.txt': page('/robots.txt'),
}

export function startArchivedSite(): Promise<LoopbackSite> {
  return startSite(ROUTES)
}

/** A new folder for an archive. */
export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'kumo-warc-'))
}

export function crawlerOf(site: LoopbackSite): Crawler {
  return new Crawler().seeds(site.url('/')).delay(0).retries({ times: 0 })
}

/** Crawls the site into a folder. */
export async function archive(
  site: LoopbackSite,
  options: WarcOptions = {},
  folder = newFolder(),
): Promise<string> {
  await crawlerOf(site).use(warc(folder, options)).run()
  return folder
}

/** All records. Throws for damage and for records with problems. */
export async function recordsOf(path: string): Promise<WarcRecord[]> {
  const records: WarcRecord[] = []
  for await (const entry of readWarc(path)) {
    if (!entry.ok) throw new Error(`${entry.file} at ${entry.offset}: ${entry.message}`)
    if (entry.problems.length > 0)
      throw new Error(`${entry.file} at ${entry.offset}: ${entry.problems.join('; ')}`)
    records.push(entry)
  }
  return records
}

/** The SHA-1 of bytes in base 32, the slow way. */
export function base32Sha1(bytes: Uint8Array): string {
  const bits = [...createHash('sha1').update(bytes).digest()]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('')
  return bits.replace(/.{5}/g, (five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(five, 2)]!)
}
