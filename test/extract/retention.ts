/**
 * Run by page-retention.test.ts in a process of its own, with --expose-gc: how much memory does each field of 2,000
 * pages keep, once the pages are gone? Prints bytes a page, by field.
 */

import { pageOf } from '../../src/conformance/page.js'
import type { Page } from '../../src/extract/contract.js'

const PAGES = 2000
/** Bytes; what a field that points into its page would keep. */
const PAGE_BYTES = 65_536

const FIELDS: Record<string, (page: Page) => unknown> = {
  id: (page) => page.id,
  url: (page) => page.url,
  host: (page) => page.host,
  mediaType: (page) => page.mediaType,
  charset: (page) => page.charset,
  headers: (page) => page.headers,
  title: (page) => page.title,
  text: (page) => page.text,
  links: (page) => page.links,
  'link.rel': (page) => page.links.at(-1)!.rel,
  canonical: (page) => page.canonical,
  'link.text': (page) => page.links[0]?.text,
  meta: (page) => page.meta,
  language: (page) => page.language,
  'structured.openGraph': (page) => page.structured.openGraph,
  robots: (page) => page.robots,
  'document.title': (page) => page.document.title,
  'document attribute': (page) => page.document.querySelector('a')!.getAttribute('href'),
  'document class': (page) => page.document.querySelector('a')!.className,
  'document text': (page) => page.document.querySelector('h1')!.textContent,
  'document comment': (page) => page.document.body.lastChild!.nodeValue,
}

const FILLER = 'x'.repeat(PAGE_BYTES)

/** A page with little but a script, so that whatever is taken of it is small. */
function page(number: number): Page {
  return pageOf({
    url: `https://www.example.com/pages/${number}`,
    headers: { 'content-type': 'text/html; charset=utf-8', etag: `"an-etag-of-some-length-${number}"` },
    body: `<!doctype html><html><head><title>title-of-the-page-number-${number}</title>
      <link rel=canonical href="/pages/known/as/${number}"><script>'${FILLER}'</script></head>
      <body><h1>The heading of page ${number}</h1><a class="a-class-of-the-page-${number}"
      rel="friend of mine forever" href="mailto:somebody-${number}@example.com">x</a>
      <a href="/pages/${number + 1}" rel="the next page of the row">next</a>
      <!-- A comment on page ${number} --></body></html>`,
  })
}

/** In bytes, once the collector's other threads are done too. */
async function settledMemory(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    globalThis.gc!()
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

async function bytesKept(keep: (page: Page) => unknown): Promise<number> {
  const before = await settledMemory()
  const kept: unknown[] = []
  for (let number = 0; number < PAGES; number++) kept.push(keep(page(number)))
  const after = await settledMemory()
  if (kept.includes(undefined)) throw new Error(`${keep} found nothing`)
  return (after - before) / PAGES
}

const bytes: Record<string, number> = {}
for (const [name, keep] of Object.entries(FIELDS)) bytes[name] = Math.round(await bytesKept(keep))
console.log(JSON.stringify({ pageBytes: PAGE_BYTES, bytes }))
