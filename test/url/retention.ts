/**
 * Run by resolve.test.ts in a process of its own, with --expose-gc: how much memory stays behind when only the
 * links of many large pages are kept, and when only their resolved URLs are?
 */

import { baseFor, resolve } from '../../src/url/resolve.js'

const PAGES = 100
const PAGE_CHARACTERS = 500_000
const BYTES_PER_MB = 1e6
const LINKS = [
  'https://example.com/already/canonical/and/long',
  'https://elsewhere.example.org/already/canonical',
  '//elsewhere.example.org/without/a/scheme',
  '/an/absolute/path/of/some/length?with=query',
  'a-relative-path/of/some/length.html',
  '../a-relative-path/of/some/length.html',
  '?a-query-of-some-length-and-more',
  '/a/path/that/needs/%c3%a9/the/parser',
]

const base = baseFor('https://example.com/a/b')

function linksOf(page: number): string[] {
  const text = Buffer.alloc(PAGE_CHARACTERS, `page ${page} `).toString('latin1') + LINKS.join('"')
  return text.slice(PAGE_CHARACTERS).split('"')
}

function megabytesKept(keep: (href: string) => string | undefined): number {
  const gc = globalThis.gc!
  gc()
  const before = process.memoryUsage()
  const kept: (string | undefined)[] = []
  for (let page = 0; page < PAGES; page++) kept.push(...linksOf(page).map(keep))
  gc()
  const after = process.memoryUsage()
  if (kept.length !== PAGES * LINKS.length) throw new Error('links were lost')
  return (after.heapUsed + after.external - before.heapUsed - before.external) / BYTES_PER_MB
}

// A compiled function may behave unlike an interpreted one: measure when the compiler has had its turn.
for (let round = 0; round < 100_000; round++) resolve(LINKS[round % LINKS.length]!, base)

const urlsMb = megabytesKept((href) => resolve(href, base))
const hrefsMb = megabytesKept((href) => href)
console.log(JSON.stringify({ pagesMb: (PAGES * PAGE_CHARACTERS) / BYTES_PER_MB, hrefsMb, urlsMb }))
