/**
 * Published cases of links, base and refresh, asked of whole pages: bytes are decoded, the base is applied, URLs are
 * resolved. What the scanner alone makes of them is in scanner-differential.test.ts.
 */

import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { pageOf } from '../../../src/conformance/page.js'
import type { FetchedPage } from '../../../src/extract/page.js'
import { canonicalizeUrl } from '../../../src/url/canonicalize.js'

const SUITES = new URL('../../../../shared/suites/html/', import.meta.url)

function suite<Case>(file: string): Case[] {
  return JSON.parse(readFileSync(new URL(file, SUITES), 'utf8'))
}

interface Html5libCase {
  readonly file: string
  readonly n: number
  readonly html: string
  readonly links: readonly { readonly value: string }[]
}

/** A string, or bytes. */
type Text = string | { readonly b64: string }

interface W3libCase {
  readonly test: string
  readonly fn: 'get_base_url' | 'get_meta_refresh'
  readonly args: readonly [html: Text, url?: Text, encoding?: string]
  readonly kwargs: { readonly encoding?: string; readonly ignore_tags?: readonly string[] }
  /** The base; or the seconds and the URL of a refresh. */
  readonly expected: string | readonly [number | null, string | null]
}

/** Where we decide otherwise: test, how many of its cases, and why. */
const DIFFERENCES: Readonly<Record<string, readonly [count: number, reason: string]>> = {
  test_base_url_in_script: [
    2,
    'w3lib passes noscript over; a crawler runs no scripts, so it reads what is there',
  ],
  test_inside_noscript: [1, 'the same'],
  test_inside_script: [1, 'w3lib can be asked to look for markup in scripts; browsers see none there'],
  test_get_meta_refresh_no_catastrophic_backtracking_single_tag: [
    1,
    'of attributes of one name browsers take the first, here an http-equiv without a value',
  ],
  test_get_meta_refresh_unterminated_tag: [1, 'a tag that the end of the page cuts off is none to browsers'],
}

describe.skipIf(!existsSync(SUITES))('suites (skipped where ../shared/suites is absent)', () => {
  it('html5lib: every link of a browser’s tree is found, and no other', () => {
    const url = 'https://example.com/dir/page'
    const cases = suite<Html5libCase>('html5lib_links.json')
    const agreeing = cases.filter(({ html, links }) => {
      const expected = new Set(links.map(({ value }) => canonicalizeUrl(value, url)))
      const found = new Set(pageOf({ url, body: html }).links.map((link) => link.url))
      return expected.size === found.size && [...expected].every((each) => found.has(each!))
    })
    console.log(`html5lib link cases: ${agreeing.length} of ${cases.length}`)
    expect(agreeing).toHaveLength(cases.length)
  })

  it('w3lib: base and refresh are found, but for the differences listed', () => {
    const cases = suite<W3libCase>('w3lib_base_and_meta_refresh.json')
    const differing: Record<string, number> = {}
    for (const each of cases) {
      const name = each.test.split('::').at(-1)!
      if (answerTo(each) !== expectedOf(each)) differing[name] = (differing[name] ?? 0) + 1
    }
    const count = Object.values(differing).reduce((sum, each) => sum + each, 0)
    const reasons = Object.entries(DIFFERENCES).map(
      ([name, [times, reason]]) => `${name} (${times}: ${reason})`,
    )
    console.log(
      `w3lib base and refresh cases: ${cases.length - count} of ${cases.length}; not ${reasons.join(', ')}`,
    )
    const listed = Object.entries(DIFFERENCES).map(([name, [times]]) => [name, times])
    expect(differing).toEqual(Object.fromEntries(listed))
  })
})

/** The page of a case that names no URL: a base that it does not name either is this one. */
const NOWHERE = 'http://nowhere.example/'

function answerTo({ fn, args: [html, url], args }: W3libCase): string | undefined {
  const charset = args[2] === undefined ? '' : `; charset=${args[2]}`
  const page = pageOf({
    url: url === undefined ? NOWHERE : bytesOf(url).toString(),
    body: bytesOf(html),
    headers: { 'content-type': `text/html${charset}` },
  }) as FetchedPage
  if (fn === 'get_base_url') return page.base
  return page.links.find(({ tag }) => tag === 'meta-refresh')?.url
}

function expectedOf({ fn, expected }: W3libCase): string | undefined {
  if (fn === 'get_base_url') return canonicalizeUrl((expected as string) || NOWHERE)
  const [, url] = expected as readonly [number | null, string | null]
  return url === null ? undefined : canonicalizeUrl(url)
}

function bytesOf(text: Text): Buffer {
  return typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.b64, 'base64')
}
