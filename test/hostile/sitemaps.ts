/** Sitemaps that never end, or are more than they should be. */

import { gzipSync } from 'node:zlib'
import { type Answering, type HostileRoute, send } from './route.js'

const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
const XML = { 'content-type': 'application/xml' }
/** 50,000 are allowed. */
const TOO_MANY = 60_000

function indexOf(...sitemaps: readonly string[]): string {
  const entries = sitemaps.map((url) => `<sitemap><loc>${url}</loc></sitemap>`)
  return `<?xml version="1.0"?><sitemapindex ${NAMESPACE}>${entries.join('')}</sitemapindex>`
}

function urls(count: number, { url }: Answering): string {
  const entries = Array.from({ length: count }, (_, n) => `<url><loc>${url(`/page/${n}`)}</loc></url>\n`)
  return `<?xml version="1.0"?><urlset ${NAMESPACE}>\n${entries.join('')}</urlset>`
}

function xml(name: string, does: string, body: (to: Answering) => string): HostileRoute {
  return {
    name,
    path: `/${name}.xml`,
    does,
    answer: (_, response, to) => send(response, 200, body(to), XML),
  }
}

export const SITEMAPS: readonly HostileRoute[] = [
  xml('sitemap-loop', 'is a sitemap index that lists itself and another that lists it', ({ url }) =>
    indexOf(url('/sitemap-loop.xml'), url('/sitemap-loop-back.xml')),
  ),
  xml('sitemap-loop-back', 'is the other index of that loop', ({ url }) => indexOf(url('/sitemap-loop.xml'))),
  {
    name: 'sitemap-without-end',
    path: '/sitemap-without-end/*',
    does: 'is a sitemap index that lists ever new ones',
    answer: (_, response, { rest, url }) =>
      send(response, 200, indexOf(url(`/sitemap-without-end/${Number(rest) + 1}`)), XML),
  },
  xml('huge-sitemap', 'lists 60,000 pages where 50,000 are allowed', (to) => urls(TOO_MANY, to)),
  xml('cut-sitemap', 'ends in the middle of an entry', (to) =>
    urls(100, to).slice(0, -'</loc></url>\n</urlset>'.length),
  ),
  {
    name: 'sitemap-bomb',
    path: '/sitemap-bomb.xml.gz',
    does: 'is a gzipped sitemap that grows to 64 MB, all of it blanks',
    answer: (_, response) =>
      send(response, 200, gzipSync(Buffer.alloc(64 * 1024 * 1024, ' ')), {
        'content-type': 'application/gzip',
      }),
  },
  xml(
    'sitemap-entities',
    'has entities that would grow to gigabytes, and one that names a file',
    ({ url }) => `<?xml version="1.0"?>
<!DOCTYPE urlset [
  <!ENTITY a0 "ha">
${Array.from({ length: 9 }, (_, n) => `  <!ENTITY a${n + 1} "${`&a${n};`.repeat(10)}">`).join('\n')}
  <!ENTITY file SYSTEM "file:///etc/hostname">
]>
<urlset ${NAMESPACE}><url><loc>${url('/page/&a9;')}</loc></url><url><loc>${url('/page/&file;')}</loc></url></urlset>`,
  ),
]
