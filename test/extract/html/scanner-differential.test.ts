/** The scanner against parse5: what a tree holds is what a scan finds, up to the exceptions listed here. */

import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { namedReferences } from '../../../src/extract/html/entity-names.js'
import { seededRandom } from '../../../src/time.js'
import { isThorough } from '../../thorough.js'
import { generatePage, generateSoup } from './html-generator.js'
import { scan } from './scan-both-ways.js'
import { scanByTree, withoutRepeats } from './scan-by-tree.js'

const SUITES = new URL('../../../../shared/suites/html/', import.meta.url)

function agree(html: string): boolean {
  return JSON.stringify(withoutRepeats(scan(html))) === JSON.stringify(withoutRepeats(scanByTree(html)))
}

/** On failure the message names the seed, so that the page can be made again. */
function expectAgreement(html: string, name: string): void {
  if (!agree(html)) {
    expect(withoutRepeats(scan(html)), `${name}: ${html}`).toEqual(withoutRepeats(scanByTree(html)))
  }
}

describe('made-up pages', () => {
  const PAGES = isThorough ? 5_000 : 1_500

  it(`agrees with the tree on ${PAGES} pages`, () => {
    let links = 0
    for (let seed = 1; seed <= PAGES; seed++) {
      const html = generatePage(seededRandom(seed))
      expectAgreement(html, `generatePage, seed ${seed}`)
      links += scan(html).links.length
    }
    expect(links, 'a test of pages without links proves nothing').toBeGreaterThan(2 * PAGES)
  })

  it(`agrees with the tree on ${PAGES} strings of markup in no order`, () => {
    for (let seed = 1; seed <= PAGES; seed++) {
      expectAgreement(generateSoup(seededRandom(seed)), `generateSoup, seed ${seed}`)
    }
  })
})

describe('character references', () => {
  const names = [...namedReferences().byName.keys()]

  it('decodes every name in an attribute as the tree has it, whatever follows', () => {
    const html = names.flatMap((name) =>
      ['', ';', 'x', '=', '1;', ' '].map((end) => `<a href="&${name}${end}">`),
    )
    expect(scan(html.join('')).links).toEqual(scanByTree(html.join('')).links)
  })

  it('decodes every name in text as the tree has it, whatever follows', () => {
    for (const end of ['', ';', 'x', '=']) {
      const html = `<title>${names.map((name) => `|&${name}${end}`).join('')}</title>`
      expect(scan(html).title).toBe(scanByTree(html).title)
    }
  })

  it('decodes numbers as the tree has them', () => {
    const numbers = [
      ...Array(300).keys(),
      0xd7ff,
      0xd800,
      0xdfff,
      0xe000,
      0xfffe,
      0x1f600,
      0x10ffff,
      0x110000,
    ]
    const html = numbers.map((number) => `<a href="&#${number};&#x${number.toString(16)};">`).join('')
    expect(scan(html).links).toEqual(scanByTree(html).links)
  })
})

/**
 * What only a tree could know. Most of these drop or move elements where they are not allowed; a crawler that
 * follows such a link loses nothing. Each must still be an exception: one that starts to agree fails the test.
 */
const EXCEPTIONS: readonly (readonly [reason: string, html: string])[] = [
  ['a select drops what is no option', '<select><option><a href=x></select>'],
  ['a select drops the tag that would begin raw text', '<select><xmp></select><a href=x>'],
  ['a frameset drops what is no frame', '<frameset><frame src=x><a href=y></frameset>'],
  ['a frame is dropped outside a frameset', '<body><frame src=x>'],
  ['column groups of a template drop what is no column', '<template><col><a href=x></template>'],
  ['a table puts what is no cell before itself', '<table><tr><td><a href=x></td></tr><a href=y></table>'],
  ['a table may put a title before another', '<table><td><title>x</title></td><title>y</title></table>'],
  [
    'an end tag closes the HTML around unclosed SVG, if it is open',
    '<a href=x><svg></a><style><a href=y></style>',
  ],
  ['and is ignored if it is not', '<svg></div><style><a href=x></style>'],
  [
    'HTML left open in SVG hides the end of what it is in',
    '<svg><desc><div></desc><style><a href=x></style>',
  ],
  [
    'an HTML element may be named like one of SVG',
    '<svg><desc><desc></desc><style><a href=x></style></desc></svg>',
  ],
  [
    'an unknown SVG element may be named like one of HTML',
    '<template><svg><template></template><title><base href=x></template>',
  ],
]

describe('exceptions', () => {
  it.each(EXCEPTIONS)('%s: %s', (_, html) => {
    expect(agree(html)).toBe(false)
  })
})

interface Html5libCase {
  readonly file: string
  readonly n: number
  readonly html: string
  readonly links: readonly { readonly tag: string; readonly attr: string; readonly value: string }[]
}

describe.skipIf(!existsSync(SUITES))('html5lib (skipped where ../shared/suites is absent)', () => {
  const cases = existsSync(SUITES) ? suite<Html5libCase>('html5lib_links.json') : []

  it.each(cases.map((each) => [`${each.file} ${each.n}`, each] as const))('%s', (_, { html, links }) => {
    const ours = new Set(scan(html).links.map((link) => `${link.tag} ${link.href}`))
    expect([...ours].sort()).toEqual([...new Set(links.map((link) => `${link.tag} ${link.value}`))].sort())
  })
})

/** A string, or bytes. */
type Text = string | { readonly b64: string }

interface W3libCase {
  readonly test: string
  readonly fn: 'get_base_url' | 'get_meta_refresh'
  readonly args: readonly [html: Text, url?: Text, encoding?: string]
  readonly expected: string | readonly [number | null, string | null]
}

/** Where w3lib decides otherwise: how many cases of a test differ, and why. */
const W3LIB_DIFFERENCES: Readonly<Record<string, readonly [count: number, reason: string]>> = {
  test_base_url_in_script: [2, 'w3lib ignores noscript; a crawler runs no scripts, so it reads it'],
  test_inside_noscript: [1, 'the same'],
  test_inside_script: [1, 'asked to, w3lib looks for markup in scripts'],
  test_get_meta_refresh_no_catastrophic_backtracking_single_tag: [
    1,
    'of attributes with the same name a browser takes the first, here an http-equiv without value',
  ],
  test_get_meta_refresh_unterminated_tag: [1, 'a tag cut off by the end of the page is no tag to a browser'],
  test_nonascii_url_latin1_query: [
    1,
    'a query is encoded in the charset of its page when it is resolved, not here',
  ],
}

describe.skipIf(!existsSync(SUITES))('w3lib (skipped where ../shared/suites is absent)', () => {
  it('finds the same base and refresh, but for the differences listed', () => {
    const differing: Record<string, number> = {}
    for (const each of suite<W3libCase>('w3lib_base_and_meta_refresh.json')) {
      const name = each.test.split('::').at(-1)!
      if (answer(each) !== expectedAnswer(each)) differing[name] = (differing[name] ?? 0) + 1
    }
    const listed = Object.entries(W3LIB_DIFFERENCES).map(([name, [count]]) => [name, count])
    expect(differing).toEqual(Object.fromEntries(listed))
  })

  function answer({ fn, args }: W3libCase): string | null {
    const html = textOf(args[0], args[2])
    const url = args[1] === undefined ? '' : textOf(args[1])
    const { base, links } = scan(html)
    if (fn === 'get_base_url') return base === undefined ? url : new URL(base, url || undefined).href
    const refresh = links.find((link) => link.tag === 'meta-refresh')
    return refresh === undefined ? null : new URL(refresh.href, url || undefined).href
  }

  function expectedAnswer({ expected }: W3libCase): string | null {
    return typeof expected === 'string' ? expected : expected[1]
  }

  function textOf(text: Text, encoding?: string): string {
    if (typeof text === 'string') return text
    return Buffer.from(text.b64, 'base64').toString(encoding === 'latin1' ? 'latin1' : 'utf8')
  }
})

function suite<Case>(file: string): Case[] {
  return JSON.parse(readFileSync(new URL(file, SUITES), 'utf8'))
}
