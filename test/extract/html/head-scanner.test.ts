/** What is in the head, compared with the tree that parse5 builds. */

import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { defaultTreeAdapter, parse, type DefaultTreeAdapterTypes as Tree } from 'parse5'
import { describe, expect, it } from 'vitest'
import { canonicalHref } from '../../../src/extract/html/head-scanner.js'
import { hasToken, scan } from '../../../src/extract/html/scanner.js'
import { seededRandom } from '../../../src/time.js'
import { generatePage } from './html-generator.js'

/** The first canonical link of the tree's head; what templates hold is not of the tree. */
function canonicalByTree(html: string): string | undefined {
  const root = parse(html, { scriptingEnabled: false }).childNodes.find(({ nodeName }) => nodeName === 'html')
  const head = (root as Tree.Element).childNodes.find(({ nodeName }) => nodeName === 'head')
  const pending: Tree.Node[] = head === undefined ? [] : [head]
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (defaultTreeAdapter.isElementNode(node) && node.tagName === 'link') {
      const attribute = (name: string) =>
        (node as Tree.Element).attrs.find((each) => each.name === name)?.value
      const href = attribute('href')
      if (href !== undefined && hasToken(attribute('rel') ?? '', 'canonical')) return href
    }
    if ('childNodes' in node) pending.push(...node.childNodes.toReversed())
  }
  return undefined
}

// biome-ignore format: a list of pieces reads best as a block
const PIECES = [
  '<html>', '<head>', '</head>', '<body>', '</body>', '</html>', '<title>x</title>', '<meta charset=utf-8>', '<!-- c -->',
  ' ', '\n', 'text', '<p>', '</p>', '<br>', '</br>', '<script>"</head><body>"</script>', '<style>a{}</style>', '<noscript>',
  '</noscript>', '<template>', '</template>', '<base href=/b>', '<svg>', '</svg>', '<!doctype html>', '<div>', '</div>',
  '<frameset>', '<frame>', '&nbsp;', '&#32;', '<noframes>a</noframes>', '<basefont>', '<bgsound>', '<command>', '<header>',
  '<textarea>', '<iframe>', '</foo>', '<?xml?>', '<![CDATA[x]]>', '<a>', '<table>', '<select>', '\0', '<img>', '<input>',
  '<object>', '</title>', '</script>', '<link rel=next href=/n>', '<', '</', '</>', '<1',
]

function compare(html: string): string | undefined {
  const found = canonicalHref(html)
  const expected = canonicalByTree(html)
  return found === expected ? undefined : `${JSON.stringify(html)}: ${found}, should be ${expected}`
}

describe('the canonical URL of the head', () => {
  it('is the one that the tree has there, for made-up heads', () => {
    const random = seededRandom(22)
    const below = (limit: number) => Math.floor(random.next() * limit)
    const link = () => `<link rel=canonical href=/${below(9)}>`
    for (let round = 0; round < 10_000; round++) {
      const length = 1 + below(8)
      const pieces = Array.from({ length }, () =>
        random.next() < 0.25 ? link() : PIECES[below(PIECES.length)],
      )
      expect(compare(pieces.join('') + link())).toBeUndefined()
    }
  })

  it('and for made-up pages', () => {
    const random = seededRandom(22)
    for (let round = 0; round < 1000; round++) {
      expect(compare(generatePage(random).replaceAll(/\brel="[^"]*"/g, 'rel=canonical'))).toBeUndefined()
    }
  })
})

it('leaves nothing behind for the next page', () => {
  canonicalHref(
    '<meta http-equiv=refresh content="0;url=/r"><template><a href=/t></a></template><link rel=canonical href=/c>',
  )
  expect([...scan('<a href=/x>').links]).toEqual([{ href: '/x', tag: 'a', rel: undefined }])
})

const SITE = new URL('../../../../shared/sites/handbook.tar.gz', import.meta.url)

describe.skipIf(!existsSync(SITE))('of real pages (skipped where ../shared/sites is absent)', () => {
  it('is the one that the tree has', () => {
    const pages = gunzipSync(readFileSync(SITE))
      .toString('utf8')
      .split(/(?=<!DOCTYPE)/)
      .slice(1, 100)
    expect(pages.filter((html) => canonicalHref(html) !== undefined).length).toBeGreaterThan(50)
    for (const html of pages) expect(compare(html.slice(0, 20_000))).toBeUndefined()
  })
})
