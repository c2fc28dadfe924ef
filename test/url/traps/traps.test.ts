import { describe, expect, it, test } from 'vitest'
import { traps } from '../../../src/url/traps/traps.js'

const at = (path: string) => `https://example.com${path}`
const refused = (urls: readonly string[], bounds = traps()) =>
  urls.filter((url) => bounds.check(url) !== undefined).length
const queries = (path: string, count: number, name = 'id') =>
  Array.from({ length: count }, (_, i) => at(`${path}?${name}=${i}`))

describe('length and depth', () => {
  test.each<[string, string | undefined]>([
    [at(`/${'a'.repeat(1979)}`), undefined],
    [at(`/${'a'.repeat(1981)}`), 'url-too-long'],
    [at(`/?${'a'.repeat(3000)}`), 'url-too-long'],
    [at('/'), undefined],
    ['http://s/', undefined],
    [at(segments(20)), undefined],
    [at(`${segments(20)}/`), undefined],
    [at(segments(21)), 'path-too-deep'],
    [at(`/?${segments(30)}`), undefined],
  ])('%s: %s', (url, reason) => {
    expect(traps().check(url)).toBe(reason)
  })

  it('can be lifted', () => {
    const free = traps({
      urlLength: Infinity,
      pathDepth: Infinity,
      pathRepeats: Infinity,
      queriesPerPath: Infinity,
    })
    expect(free.check(at(`/${'a/'.repeat(100_000)}?${'b'.repeat(1000)}`))).toBeUndefined()
    expect(refused(queries('/', 20_000), free)).toBe(0)
  })
})

function segments(count: number): string {
  return Array.from({ length: count }, (_, i) => `/s${i}`).join('')
}

describe('repeated segments', () => {
  test.each<[string, boolean]>([
    ['/a/a/a', false],
    ['/a/a/a/a', true],
    ['/a/b/a/c/a/d', false],
    ['/a/b/a/c/a/d/a', true],
    ['/a/b/a/b/a', false],
    ['/a/b/a/b/a/b', true],
    ['/x/a/b/c/a/b/c/a/b/c/y.html', true],
    ['/a/b/c/a/b/c/a/b', false],
    ['/1/2/1/2/1/2', true],
    ['/a////b', false],
    ['/a//////b', true],
    // What people write.
    ['/2024/01/01/', false],
    ['/2011/11/11/11', false],
    ['/0/0/0/0', false],
    ['/en/en/', false],
    ['/en/docs/en/docs/', false],
    ['/web/2020/https://www.example.com/a/b/index.html', false],
    ['/kernel/drivers/net/ethernet/net/net.c', false],
    ['/aa/ab/ac/ad/ae/af/ag/ah/ai/aj/ak/al/am/an/ao/ap', false],
  ])('%s: %s', (path, isTrap) => {
    expect(traps().check(at(path))).toBe(isTrap ? 'path-repeats' : undefined)
  })

  it('may be more, by option', () => {
    expect(traps({ pathRepeats: 5 }).check(at('/a/x/a/y/a/z/a'))).toBeUndefined()
    expect(traps({ pathRepeats: 1 }).check(at('/a/x/a'))).toBe('path-repeats')
  })

  it('does not depend on how deep the path may be', () => {
    expect(traps({ pathDepth: 1000 }).check(at(segments(300)))).toBeUndefined()
    expect(traps({ pathDepth: 1000 }).check(at('/a/b'.repeat(200)))).toBe('path-repeats')
  })
})

describe('queries of a path', () => {
  test.each([1, 10, 100, 1000, 2000, 10_000, 50_000])('end at about %d', (limit) => {
    const letIn =
      4 * limit + 100 - refused(queries('/calendar', 4 * limit + 100), traps({ queriesPerPath: limit }))
    expect(letIn).toBeGreaterThanOrEqual(Math.floor(limit * 0.85))
    expect(letIn).toBeLessThanOrEqual(Math.ceil(limit * 1.15))
  })

  it('are 1,000 by default, and 900 never too many', () => {
    for (let path = 0; path < 100; path++) expect(refused(queries(`/p${path}`, 900))).toBe(0)
    expect(refused(queries('/p', 3000))).toBeGreaterThan(1900)
  })

  it('count once, however often a URL is asked about', () => {
    const bounds = traps()
    for (let round = 0; round < 20; round++) expect(refused(queries('/a', 900), bounds)).toBe(0)
  })

  it('count for each host and path apart', () => {
    const bounds = traps()
    refused(queries('/a', 5000), bounds)
    expect(bounds.check(at('/a?one=more'))).toBe('query-variety')
    expect(bounds.check(at('/a'))).toBeUndefined()
    expect(bounds.check(at('/b?one=more'))).toBeUndefined()
    expect(bounds.check('https://www.example.com/a?one=more')).toBeUndefined()
  })

  it('count as one where they differ in identifiers only', () => {
    const bounds = traps({ identifiers: ['id', 'item_*'] })
    expect(refused(queries('/item', 50_000), bounds)).toBe(0)
    expect(refused(queries('/item', 50_000, 'item_nr'), bounds)).toBe(0)
    expect(refused(queries('/item', 5000, 'day'), bounds)).toBeGreaterThan(3900)
  })

  it('bound a shop whose filters can be combined', () => {
    const filters = Array.from({ length: 14 }, (_, i) => `f${i}=1`)
    const urls = Array.from({ length: 2 ** 14 }, (_, set) =>
      at(`/shop?${filters.filter((_, i) => set & (1 << i)).join('&')}`),
    )
    const letIn = urls.length - refused(urls)
    expect(letIn).toBeGreaterThan(900)
    expect(letIn).toBeLessThan(1100)
  })

  it('stay counted while thousands of other paths come by, if the path is still asked for', () => {
    const bounds = traps()
    let pages = 0
    let days = 0
    for (let i = 0; i < 30_000; i++) {
      if (bounds.check(at(`/page/${i}?x=1`)) === undefined) pages++
      if (bounds.check(at(`/calendar?day=${i}`)) === undefined) days++
    }
    expect(pages).toBe(30_000)
    expect(days).toBeLessThan(1100)
  })
})

describe('options', () => {
  test.each(['urlLength', 'pathDepth', 'pathRepeats', 'queriesPerPath'])('%s is a count', (name) => {
    for (const value of [0, -1, 1.5, Number.NaN, '7', null]) {
      expect(() => traps({ [name]: value }), String(value)).toThrow(
        expect.objectContaining({ code: 'KUMO_INVALID_OPTION', message: expect.stringContaining(name) }),
      )
    }
  })
})
