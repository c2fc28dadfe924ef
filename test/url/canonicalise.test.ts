import { describe, expect, it, test } from 'vitest'
import { seededRandom } from '../../src/time.js'
import { canonicalise, hostOf, originOf, pathOf } from '../../src/url/canonicalise.js'
import { BASES, madeUpHref, wptCases } from './made-up.js'

describe('canonicalise', () => {
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
    // A stray percent sign stays, and no new escape appears behind it.
    ['https://example.com/100%', 'https://example.com/100%'],
    ['https://example.com/%%34%31', 'https://example.com/%%341'],
    ['https://example.com/%4%31', 'https://example.com/%4%31'],
    ['https://example.com/%zz%41', 'https://example.com/%zzA'],
    // Versions of Node differ on a caret in the path.
    ['https://example.com/a^b?c^d', 'https://example.com/a%5Eb?c^d'],
    ['https://example.com/a^b{', 'https://example.com/a%5Eb%7B'],
    // What servers may tell apart is left alone.
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
    expect(canonicalise(href)).toBe(canonical)
  })

  it('resolves against a base', () => {
    expect(canonicalise('../b?x=1', 'https://example.com/a/c')).toBe('https://example.com/b?x=1')
    expect(canonicalise('', 'https://user@example.com/a?b#c')).toBe('https://example.com/a?b')
    expect(canonicalise('/a', 'not a base')).toBeUndefined()
  })

  it('leaves its own answers unchanged', () => {
    const random = seededRandom(20)
    let canonical = 0
    for (let round = 0; round < 60_000; round++) {
      const href = madeUpHref(random)
      const once = canonicalise(href, BASES[round % BASES.length])
      if (once === undefined) continue
      canonical++
      const twice = canonicalise(once)
      if (twice !== once) expect.fail(`${JSON.stringify(href)} → ${once} → ${twice}`)
    }
    expect(canonical).toBeGreaterThan(20_000)
  })
})

describe('canonicalise on the cases of web-platform-tests', () => {
  const cases = wptCases()
  test.skipIf(!cases)(
    'is the parsed URL without fragment and credentials (skipped without ../shared/suites)',
    () => {
      let canonical = 0
      for (const { input, base, href } of cases!) {
        const once = canonicalise(input, base ?? undefined)
        if (once === undefined) continue
        canonical++
        expect(canonicalise(once), input).toBe(once)
        expect(once, input).toBe(canonicalise(href!))
        expect(new URL(once).hash + new URL(once).username, input).toBe('')
      }
      expect(canonical).toBeGreaterThan(200)
    },
  )
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
