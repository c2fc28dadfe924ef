/**
 * Whole sites with relative links, deep paths, several encodings and links that lead nowhere: a crawl finds the pages that
 * a simple crawler finds which builds a tree of each page (parse5) and resolves each link with `URL`.
 */

import { parse, type DefaultTreeAdapterTypes as Tree } from 'parse5'
import { describe, expect, test } from 'vitest'
import { archives, readArchive } from '../loopback/archives.mjs'
import { generateSite } from '../loopback/generated-site.mjs'
import type { Route } from '../loopback/site.js'
import { isThorough } from '../thorough.js'
import { direct, site } from './support.js'

const GENERATED_PAGES = 60
/** The smallest; `npm run bench -- sites` compares them all. */
const SAMPLE = isThorough ? archives() : archives().filter((name) => name === 'japanese')

const PAGE_RELS = /(?:^|\s)(?:alternate|next|prev|previous|first|last|start)(?:\s|$)/i

/** The links of a page, as a browser has them. */
function linksOf(html: string): string[] {
  const found: string[] = []
  const visit = (node: Tree.Node): void => {
    if ('attrs' in node) {
      const attribute = (name: string) => node.attrs.find((each) => each.name === name)?.value
      const href = attribute(['iframe', 'frame'].includes(node.tagName) ? 'src' : 'href')
      const isLink = ['a', 'area', 'iframe', 'frame'].includes(node.tagName)
      const isPage = node.tagName === 'link' && PAGE_RELS.test(attribute('rel') ?? '')
      if (href !== undefined && (isLink || isPage)) found.push(href)
    }
    if ('content' in node) visit(node.content)
    if ('childNodes' in node) for (const child of node.childNodes) visit(child)
  }
  visit(parse(html))
  return found
}

function reachable(files: ReadonlyMap<string, Buffer>, starts: readonly string[]): string[] {
  const origin = 'http://site.example'
  const pages = new Set<string>()
  const waiting = starts.map((path) => origin + path)
  const seen = new Set(waiting)
  for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
    const { pathname, search } = new URL(url)
    const file = files.get(pathname)
    if (file === undefined || !pathname.endsWith('.html')) continue
    pages.add(pathname + search)
    for (const href of linksOf(file.toString('latin1'))) {
      if (!URL.canParse(href, url)) continue
      const link = new URL(href, url)
      link.hash = ''
      if (link.origin !== origin || seen.has(link.href)) continue
      seen.add(link.href)
      waiting.push(link.href)
    }
  }
  return [...pages].sort()
}

async function crawled(files: ReadonlyMap<string, Buffer>, starts: readonly string[]): Promise<string[]> {
  const routes: Record<string, Route> = {}
  for (const [path, body] of files) routes[path] = { headers: { 'content-type': 'text/html' }, body }
  const { url } = await site(routes)
  const found: string[] = []
  await direct
    .seeds(starts.map((path) => url(path)))
    .perHost({ connections: 8, growAt: 1 })
    .on('page', (page) => void found.push(page.url.slice(url('').length)))
    .run()
  return found.sort()
}

describe('all pages of a site are found, and no others', () => {
  test('a generated site', async () => {
    const files = generateSite(GENERATED_PAGES, 1)
    const expected = reachable(files, ['/index.html'])
    expect(expected.length).toBeGreaterThan(GENERATED_PAGES)
    expect(await crawled(files, ['/index.html'])).toEqual(expected)
  })

  test.skipIf(SAMPLE.length === 0).each(SAMPLE)('the site in the archive %s', async (name) => {
    const files = readArchive(name)
    const starts = [...files.keys()].filter((path) => /^\/(?:[^/]+\/)?index\b[^/]*\.html$/.test(path))
    expect(await crawled(files, starts)).toEqual(reachable(files, starts))
  })
})
