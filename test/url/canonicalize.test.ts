import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it, test } from 'vitest'
import { seededRandom } from '../../src/time.js'
import { canonicalizeUrl, hostOf, originOf, pathOf } from '../../src/url/canonicalize.js'
import { BASES, madeUpHref, wptCases } from './made-up.js'

describe('canonicalize', () => {
  test.each<[href: string, canonical: string | undefined]>([
    ['https://example.com', 'https://example.com/'],
    ['HTTPS://EXAMPLE.com/A', 'https://example.com/A'],
    ['http://example.com:80/', 'http://example.com/'],
    ['https://example.com:80/', 'https://example.com:80/'],
    ['https://user:secret@example.com/a', 'https://example.com/a'],
    ['https://Bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://example.com/a/./b/../c', 'https://example.com/a/c'],
    ['https://example.com/a#b', 'https://example.com/a'],
    ['https://example.com/a?', 'https://example.com/a'],
    ['https://example.com/a?#', 'https://example.com/a'],
    ['https://example.com/a??', 'https://example.com/a??'],
    ['https://example.com/a?b?c', 'https://example.com/a?b?c'],
    ['https://example.com/a#?b', 'https://example.com/a'],
    // Escapes: upper case, and none that is not needed.
    ['https://example.com/%7euser/%c3%a9', 'https://example.com/~user/%C3%A9'],
    ['https://example.com/?%41=%2f%7E', 'https://example.com/?A=%2F~'],
    ['https://example.com/é?é', 'https://example.com/%C3%A9?%C3%A9'],
    ['https://example.com/a%2Fb', 'https://example.com/a%2Fb'],
    ['https://example.com/%2525', 'https://example.com/%2525'],
    ['https://example.com/%252e', 'https://example.com/%252e'],
    ['https://example.com/a/%2e%2E/b', 'https://example.com/b'],
    ['https://example.com/a%2ehtml', 'https://example.com/a.html'],
    ['https://example.com/%2e%2e%2e/b', 'https://example.com/.../b'],
    // A stray percent sign stays, and no new escape appears after it.
    ['https://example.com/100%', 'https://example.com/100%'],
    ['https://example.com/%%34%31', 'https://example.com/%%341'],
    ['https://example.com/%4%31', 'https://example.com/%4%31'],
    ['https://example.com/%zz%41', 'https://example.com/%zzA'],
    // Versions of Node differ on a caret in the path.
    ['https://example.com/a^b?c^d', 'https://example.com/a%5Eb?c^d'],
    ['https://example.com/a^b{', 'https://example.com/a%5Eb%7B'],
    // What may matter to a server is left alone.
    ['https://example.com//a/', 'https://example.com//a/'],
    ['https://www.example.com/index.html?b=1&a=2', 'https://www.example.com/index.html?b=1&a=2'],
    [' \thttps://example.com/a\nb ', 'https://example.com/ab'],
    ['http://0x7f.1/', 'http://127.0.0.1/'],
    // Not an http(s) URL.
    ['mailto:me@example.com', undefined],
    ['javascript:void(0)', undefined],
    ['ftp://example.com/', undefined],
    ['/a', undefined],
    ['', undefined],
    ['https://', undefined],
    ['https://exa mple.com/', undefined],
    ['https://example.com:99999/', undefined],
  ])('%j → %j', (href, canonical) => {
    expect(canonicalizeUrl(href)).toBe(canonical)
  })

  it('resolves against a base', () => {
    expect(canonicalizeUrl('../b?x=1', 'https://example.com/a/c')).toBe('https://example.com/b?x=1')
    expect(canonicalizeUrl('', 'https://user@example.com/a?b#c')).toBe('https://example.com/a?b')
    expect(canonicalizeUrl('/a', 'not a base')).toBeUndefined()
  })

  it('answers alike before and after the engine has compiled it', () => {
    // More calls than V8 watches before it optimizes.
    const calls = 10_000
    const base = 'https://example.com/'
    const odd = new Set<string | undefined>()
    for (let i = 0; i < calls; i++) {
      odd.add(canonicalizeUrl('http://bücher.example/'))
      odd.add(canonicalizeUrl('//bücher.example/', base))
      odd.add(canonicalizeUrl('/', 'https://bücher.example/a'))
      // Read byte by byte these would be the letter À; as they stand, no host may contain them.
      odd.add(canonicalizeUrl('https://\u00c3\u0080.example/', base))
    }
    const http = 'http://xn--bcher-kva.example/'
    expect([...odd]).toEqual([http, http.replace('http', 'https'), undefined])
  })

  it('leaves its own answers unchanged', () => {
    const random = seededRandom(20)
    let canonical = 0
    for (let round = 0; round < 60_000; round++) {
      const href = madeUpHref(random)
      const once = canonicalizeUrl(href, BASES[round % BASES.length])
      if (once === undefined) continue
      canonical++
      const twice = canonicalizeUrl(once)
      if (twice !== once) expect.fail(`${JSON.stringify(href)} → ${once} → ${twice}`)
    }
    expect(canonical).toBeGreaterThan(20_000)
  })
})

describe('canonicalizeUrl on the cases of web-platform-tests', () => {
  const cases = wptCases()
  test.skipIf(!cases)(
    'is the parsed URL without fragment and credentials (skipped without ../shared/suites)',
    () => {
      let canonical = 0
      for (const { input, base, href } of cases!) {
        const once = canonicalizeUrl(input, base ?? undefined)
        if (once === undefined) continue
        canonical++
        expect(canonicalizeUrl(once), input).toBe(once)
        expect(once, input).toBe(canonicalizeUrl(href!))
        expect(new URL(once).hash + new URL(once).username, input).toBe('')
      }
      expect(canonical).toBeGreaterThan(200)
    },
  )

  test.skipIf(!cases)('parses as the standard says (skipped without ../shared/suites)', () => {
    const web = cases!.filter(({ href, failure }) => failure || /^https?:/.test(href!))
    const agreeing = web.filter(({ input, base, href, failure }) => {
      const once = canonicalizeUrl(input, base ?? undefined)
      if (failure) return once === undefined
      return once !== undefined && once === canonicalizeUrl(href!)
    })
    console.log(`web-platform-tests, http(s) and failing: ${agreeing.length} of ${web.length}`)
    // The rest depends on the Unicode tables and the parser of the Node.js version that runs.
    expect(agreeing.length / web.length).toBeGreaterThan(0.97)
  })
})

interface W3libCase {
  readonly args: readonly (string | { readonly b64: string })[]
  readonly kwargs: Readonly<Record<string, unknown>>
  readonly expected: unknown
}

const w3libFile = new URL('../../../shared/suites/url/w3lib_canonicalize_url.json', import.meta.url)

/** Where w3lib writes another URL, beyond sorting the query, and why ours does not. */
const W3LIB_DIFFERENCES: Readonly<Record<string, string>> = {
  'http://www.example.com/do?&a=1': 'an empty parameter is a spelling that some server may need',
  'http://www.example.com/do?b=&c&a=2':
    'a name without `=` is not a name with an empty value to every server',
  'http://www.example.com/do?1750,4': 'the same, and the comma stands for itself',
  'http://www.example.com/do?q=a space&a=1': '`+` means a space in forms only',
  'http://www.example.com/do?q=a%20space&a=1': 'the same',
  'https://example.com/a%23b%2cc#bash':
    'an escaped comma may mean another thing than a comma (RFC 3986, 2.2)',
}

describe.skipIf(!existsSync(w3libFile))('w3lib (skipped without ../shared/suites)', () => {
  it('is another canonicalizer, with which ours mostly agrees', () => {
    // Kept fragments and other charsets are options of its own, and not asked of ours.
    const cases = (JSON.parse(readFileSync(w3libFile, 'utf8')) as W3libCase[]).filter(
      ({ args, kwargs, expected }) =>
        args.length === 1 &&
        Object.keys(kwargs).length === 0 &&
        typeof args[0] === 'string' &&
        typeof expected === 'string',
    )
    const sorted = (url: string | undefined) => {
      const [path, query] = url?.split(/\?(.*)/s) ?? []
      return query ? `${path}?${query.split('&').sort().join('&')}` : path
    }
    const differing = cases.filter(({ args, expected }) => {
      return sorted(canonicalizeUrl(args[0] as string)) !== sorted(canonicalizeUrl(expected as string))
    })
    console.log(`w3lib, order of queries aside: ${cases.length - differing.length} of ${cases.length} alike`)
    expect(differing.map(({ args }) => args[0]).sort()).toEqual(Object.keys(W3LIB_DIFFERENCES).sort())
  })
})

describe('the parts of a canonical URL', () => {
  test.each([
    ['https://example.com/', 'example.com', 'https://example.com', '/'],
    ['http://example.com/a/b?c=//d', 'example.com', 'http://example.com', '/a/b?c=//d'],
    ['https://example.com:8080/a', 'example.com:8080', 'https://example.com:8080', '/a'],
    ['http://[::1]:81/a', '[::1]:81', 'http://[::1]:81', '/a'],
    ['http://s/', 's', 'http://s', '/'],
  ])('%s', (url, host, origin, path) => {
    expect([hostOf(url), originOf(url), pathOf(url)]).toEqual([host, origin, path])
  })
})
