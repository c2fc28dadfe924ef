import { describe, expect, it, test } from 'vitest'
import { seededRandom } from '../../src/time.js'
import { canonicalizeUrl } from '../../src/url/canonicalize.js'
import { parameterFilter, SESSION_PARAMETERS, TRACKING_PARAMETERS } from '../../src/url/tracking.js'
import { BASES, madeUpHref } from './made-up.js'

const NAMED = /^(utm_[^=]*|sid|fbclid|x\[[^=]*\]|[^=]*_track|q|z[^=]*)(=|$)/i
const isNamed = (parameter: string) => NAMED.test(parameter)
const parametersOf = (url: string) => (url.includes('?') ? url.slice(url.indexOf('?') + 1).split('&') : [])
/** An empty query is no query. */
const kept = (url: string) => parametersOf(url).filter((each) => !isNamed(each))

describe('parameterFilter', () => {
  const clean = parameterFilter([
    ...TRACKING_PARAMETERS,
    ...SESSION_PARAMETERS,
    'sid',
    'x[*]',
    'é',
    '*_track',
    'q',
    'z*',
  ])

  test.each<[path: string, left: string]>([
    ['/', '/'],
    ['/a?b=1', '/a?b=1'],
    ['/a?utm_source=x', '/a'],
    ['/a?utm_source', '/a'],
    ['/a?utm_=x', '/a'],
    ['/a?utm=x', '/a?utm=x'],
    ['/a?b=1&utm_source=x&c=2', '/a?b=1&c=2'],
    ['/a?UTM_Source=x&b', '/a?b'],
    ['/a?b=utm_source&fbclid=1&gclid=2', '/a?b=utm_source'],
    ['/a?fbclid2=1&xfbclid=2', '/a?fbclid2=1&xfbclid=2'],
    ['/a?phpsessid=1&PHPSESSID=2', '/a'],
    ['/a?ASPSESSIONIDQQXX=1', '/a'],
    ['/a?my_track=1&track=2', '/a?track=2'],
    ['/a?x[y]=1&x=2', '/a?x=2'],
    ['/a?%C3%A9=1&b', '/a?b'],
    ['/a?q=1&b&Q&qq', '/a?b&qq'],
    ['/a?zoo=1&b&z&z_=2', '/a?b'],
    // Order and spelling of all else stay, empty parameters too.
    ['/a?y=%20+&sid=1&&a==', '/a?y=%20+&&a=='],
    ['/a?&sid=1', '/a'],
    ['/a?sid=1&?', '/a??'],
    // A semicolon in the query is part of a value.
    ['/a?b=1;sid=2', '/a?b=1;sid=2'],
    // In the path only with a value.
    ['/a;jsessionid=1F.node!7', '/a'],
    ['/a;JSESSIONID=1F/b;x=1;sid=2;y?c=1', '/a/b;x=1;y?c=1'],
    ['/a;sid', '/a;sid'],
    ['/a;x=sid=1', '/a;x=sid=1'],
    ['/;sid=1', '/'],
    ['/a;sid=1?sid=2', '/a'],
    // What is left must not become dots or another escape.
    ['/a/..;sid=1/b', '/a/..;sid=1/b'],
    ['/a/..;sid=1;sid=2', '/a/..;sid=1;sid=2'],
    ['/a/...;sid=1', '/a/...'],
    ['/a?sid=%&%31', '/a?1'],
    ['/a?sid=%&%73id=1', '/a'],
  ])('%s → %s', (path, left) => {
    const url = `https://example.com${path}`
    expect(canonicalizeUrl(url), 'the case is canonical').toBe(url)
    expect(clean(url)).toBe(`https://example.com${left}`)
  })

  it('leaves the host alone', () => {
    const url = canonicalizeUrl('http://a;sid=1/b')
    if (url !== undefined) expect(clean(url)).toBe(url)
  })

  it('drops nothing if there is nothing to drop', () => {
    expect(parameterFilter([])('https://example.com/a;b=1?c=2')).toBe('https://example.com/a;b=1?c=2')
  })

  test.each([[''], ['a b'], ['a=b'], ['a&b'], ['?a'], [7], [undefined]])('rejects the name %j', (name) => {
    expect(() => parameterFilter([name as string])).toThrow(
      expect.objectContaining({ code: 'KUMO_INVALID_OPTION' }),
    )
  })

  it('gives canonical URLs, once and for all, without the names and with all others', () => {
    const random = seededRandom(77)
    const pick = <T>(list: readonly T[]) => list[Math.floor(random.next() * list.length)]!
    const pieces = [
      'utm_a=1',
      'sid=%',
      'SID',
      'a=1',
      '%31',
      '%',
      'fbclid=x',
      '',
      'b;sid=2',
      '%73id=1',
      'x[é]=',
    ]
    let changed = 0
    for (let round = 0; round < 30_000; round++) {
      const params = Array.from({ length: Math.floor(random.next() * 5) }, () => pick(pieces))
      const separator = pick(['&', ';', '/', '/..;', '?'])
      const href = madeUpHref(random) + pick(['?', '&', ';', '/']) + params.join(separator)
      const url = canonicalizeUrl(href, BASES[round % BASES.length])
      if (url === undefined) continue
      const left = clean(url)
      if (left !== url) changed++
      const wrong =
        canonicalizeUrl(left) !== left ||
        clean(left) !== left ||
        new URL(left).origin !== new URL(url).origin ||
        parametersOf(left).some(isNamed) ||
        (!url.includes('%') && `${kept(url)}` !== `${parametersOf(left)}`) ||
        left.length > url.length
      if (wrong) expect.fail(`${url} → ${left} → ${canonicalizeUrl(left)} → ${clean(left)}`)
    }
    expect(changed).toBeGreaterThan(3000)
  })
})
