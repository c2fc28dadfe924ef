import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, test } from 'vitest'
import { seededRandom } from '../../src/time.js'
import { canonicalizeUrl } from '../../src/url/canonicalize.js'
import { baseFor, resolve } from '../../src/url/resolve.js'
import { BASES, madeUpHref, wptCases } from './made-up.js'

describe('resolve', () => {
  const base = baseFor('https://example.com/a/b/c.html?x=1')

  test.each<[href: string, url: string | undefined]>([
    ['', 'https://example.com/a/b/c.html?x=1'],
    ['#top', 'https://example.com/a/b/c.html?x=1'],
    ['?', 'https://example.com/a/b/c.html'],
    ['?y=2#z', 'https://example.com/a/b/c.html?y=2'],
    ['/d', 'https://example.com/d'],
    ['/d?#e', 'https://example.com/d'],
    ['d.html', 'https://example.com/a/b/d.html'],
    ['d:e/f', undefined],
    ['d_:e/f', 'https://example.com/a/b/d_:e/f'],
    ['./d', 'https://example.com/a/b/d'],
    ['../', 'https://example.com/a/'],
    ['../../../../d', 'https://example.com/d'],
    ['..', 'https://example.com/a/'],
    ['/d/../e', 'https://example.com/e'],
    ['/.well-known', 'https://example.com/.well-known'],
    ['/d/%C3%A9', 'https://example.com/d/%C3%A9'],
    ['/d/%c3%a9%41', 'https://example.com/d/%C3%A9A'],
    ["?it's", 'https://example.com/a/b/c.html?it%27s'],
    ['https://example.com', 'https://example.com/'],
    ['https://example.com?y', 'https://example.com/?y'],
    ['https://example.com.evil.example/', 'https://example.com.evil.example/'],
    ['https://example.com:443/d', 'https://example.com/d'],
    ['http://example.com/d', 'http://example.com/d'],
    ['//cdn.example/d', 'https://cdn.example/d'],
    ['https://EXAMPLE.com/d', 'https://example.com/d'],
    ['https:d', 'https://example.com/a/b/d'],
    ['https://1.2.3/', 'https://1.2.0.3/'],
    ['HTTPS://example.com/d', 'https://example.com/d'],
    ['mailto:me@example.com', undefined],
    ['JavaScript:void(0)', undefined],
    ['https://exa mple.com/', undefined],
  ])('%j → %j', (href, url) => {
    expect(resolve(href, base)).toBe(url)
  })

  it('answers as canonicalizeUrl does, for made-up links', () => {
    const random = seededRandom(42)
    const bases = BASES.map(baseFor)
    for (let round = 0; round < 100_000; round++) {
      const href = madeUpHref(random)
      const against = bases[round % bases.length]!
      const answer = resolve(href, against)
      const expected = canonicalizeUrl(href, against.url)
      if (answer !== expected) {
        expect.fail(`${JSON.stringify(href)} on ${against.url}: ${answer}, should be ${expected}`)
      }
    }
  })

  it('answers as canonicalizeUrl does, for every ASCII character in every place', () => {
    const places = [
      '@',
      'x@y',
      '/@',
      '/x@y',
      '/x/@y',
      '?@',
      '/x?y@',
      'https://@',
      'https://x@y/',
      '//x.@/',
      '../@',
    ]
    for (const place of places) {
      for (let code = 0; code < 160; code++) {
        const href = place.replace('@', String.fromCharCode(code))
        expect(resolve(href, base), JSON.stringify(href)).toBe(canonicalizeUrl(href, base.url))
      }
    }
  })

  it('answers as canonicalizeUrl does, for every escape', () => {
    for (let code = 0; code < 256; code++) {
      const hex = code.toString(16).padStart(2, '0')
      for (const href of [`/x%${hex}y`, `/x%${hex.toUpperCase()}`, `?%${hex.toUpperCase()}`, `%${hex}/`]) {
        expect(resolve(href, base), href).toBe(canonicalizeUrl(href, base.url))
      }
    }
  })

  const cases = wptCases()
  test.skipIf(!cases)(
    'answers as canonicalizeUrl does on web-platform-tests (skipped without ../shared/suites)',
    () => {
      for (const { input, base } of cases!) {
        const page = canonicalizeUrl(base ?? 'https://example.com/')
        if (page === undefined) continue
        expect(resolve(input, baseFor(page)), input).toBe(canonicalizeUrl(input, page))
      }
    },
  )
})

describe('a resolved URL', () => {
  it('does not keep the page alive from which its link was sliced', () => {
    const script = fileURLToPath(new URL('./retention.ts', import.meta.url))
    const child = spawnSync(process.execPath, ['--expose-gc', '--import', 'tsx', script], {
      encoding: 'utf8',
    })
    expect(child.stderr).toBe('')
    const { pagesMb, hrefsMb, urlsMb } = JSON.parse(child.stdout)
    // Keeping the links themselves keeps the pages: proof that the measurement can see the leak.
    expect(hrefsMb).toBeGreaterThan(pagesMb * 0.9)
    expect(urlsMb).toBeLessThan(pagesMb * 0.05)
  })
})
