/** Pages that are larger than most: long lists of links, and bodies beyond the bound. */

import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { crawl, pathsOf, quick, site } from './support.js'

const HTML = { 'content-type': 'text/html' }
const BOUND = 5000
const FIRST = '<a href="/next"></a>'
/** Four times the bound, and not small when it is packed. */
const BODY =
  FIRST + Array.from({ length: BOUND }, (_, i) => (i * 2_654_435_761).toString(36).slice(-4)).join('')

describe('a body beyond the bound', () => {
  const ways: [how: string, body: Uint8Array, headers: Record<string, string>][] = [
    ['plain', Buffer.from(BODY), {}],
    ['gzip', gzipSync(BODY), { 'content-encoding': 'gzip' }],
    ['brotli', brotliCompressSync(BODY), { 'content-encoding': 'br' }],
    // Small on the wire.
    ['a bomb', gzipSync(BODY.padEnd(5_000_000)), { 'content-encoding': 'gzip' }],
    ['packed twice', gzipSync(gzipSync(BODY.padEnd(500_000))), { 'content-encoding': 'gzip, gzip' }],
  ]
  const route = (body: Uint8Array, headers: Record<string, string>) => ({
    '/': { headers: { ...HTML, ...headers }, body },
    '/next': 'small',
  })

  test.for(ways)('fails: %s', async ([, body, headers]) => {
    const { url } = await site(route(body, headers))
    const { pages, failures } = await crawl(quick.maxBodyBytes(BOUND).seeds(url()))
    expect(pages).toEqual([])
    expect(failures).toMatchObject([{ code: 'body-too-large', final: true }])
  })

  test.for(ways)('is cut off with truncate, and says so: %s', async ([how, body, headers]) => {
    const { url } = await site(route(body, headers))
    const crawler = quick.maxBodyBytes(BOUND, { truncate: true }).seeds(url())
    const { pages, failures } = await crawl(crawler)
    expect(failures).toEqual([])
    expect(pathsOf(pages)).toEqual(['/', '/next'])
    const [large, small] = pages
    expect([large!.truncated, small!.truncated]).toEqual([true, false])
    expect(BODY.startsWith(large!.content)).toBe(true)
    // Of what is packed the bound may hold less than it could unpack to, where its last part needs the rest.
    if (how === 'plain' || how === 'a bomb') expect(large!.body.length).toBe(BOUND)
    else expect(large!.body.length).toBeGreaterThan(0)
  })

  test('is whole at the bound', async () => {
    const { url } = await site(route(Buffer.from(BODY.slice(0, BOUND)), {}))
    const { pages } = await crawl(quick.maxBodyBytes(BOUND, { truncate: true }).seeds(url()))
    expect(pages[0]!.truncated).toBe(false)
  })
})

describe('many links', () => {
  const links = (count: number) =>
    `<a href="/first"></a>${'<a href="/same"></a>'.repeat(count - 2)}<a href="/last"></a>`

  test('as many as a large index has are all followed', async () => {
    const started = await site({ '/': links(17_000), '/first': 'x', '/same': 'x', '/last': 'x' })
    const { pages, skips } = await crawl(quick.seeds(started.url()))
    expect([pathsOf(pages).toSorted(), skips]).toEqual([['/', '/first', '/last', '/same'], []])
  })

  test('more than the bound are reported', async () => {
    const started = await site({ '/': links(50_001), '/first': 'x', '/same': 'x', '/last': 'x' })
    const { pages, skips } = await crawl(quick.seeds(started.url()))
    expect(pathsOf(pages).toSorted()).toEqual(['/', '/first', '/same'])
    expect(skips).toMatchObject([{ url: started.url(), reason: 'too-many-links' }])
  })
})
