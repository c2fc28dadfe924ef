import { describe, expect, it, test } from 'vitest'
import { KumoError } from '../../../src/errors.js'
import { all, any, not, toRule } from '../../../src/url/scope/combine.js'
import {
  anywhere,
  glob,
  matching,
  pathPrefix,
  predicate,
  sameHost,
  sameOrigin,
  sameSite,
} from '../../../src/url/scope/rules.js'
import { type ScopeLike, type ScopeRule, type ScopeTest, scopeTarget } from '../../../src/url/scope/scope.js'
import { cpuMs } from '../../cpu-time.js'

async function started(like: ScopeLike, ...seeds: string[]): Promise<ScopeTest> {
  const scope = toRule(like).start()
  await scope.open?.()
  for (const seed of seeds) scope.addSeed?.(seed)
  return scope
}

const asks = (scope: ScopeTest, url: string) => scope.test(scopeTarget(url, 1, 'https://e.com/'))

const SEED = 'https://www.e.com/docs/intro.html?x=/y/'

describe('a scope rule', () => {
  test.each<[name: string, like: ScopeLike, perOrigin: boolean, yes: string[], no: string[]]>([
    ['anywhere', anywhere(), true, ['http://a.org/b'], []],
    [
      'same origin',
      sameOrigin(),
      true,
      ['https://www.e.com/', 'https://www.e.com/a?b'],
      ['http://www.e.com/', 'https://e.com/', 'https://www.e.com:81/'],
    ],
    [
      'same host',
      sameHost(),
      true,
      ['https://www.e.com/', 'http://www.e.com/'],
      ['https://e.com/', 'https://www.e.com:81/'],
    ],
    [
      'same site',
      sameSite(),
      true,
      ['https://e.com/', 'http://a.b.e.com:81/c'],
      ['https://e.org/', 'https://www.e.com.org/', 'https://fe.com/'],
    ],
    [
      'below the seeds',
      pathPrefix(),
      false,
      ['https://www.e.com/docs/', 'https://www.e.com/docs/a/b?c', 'https://www.e.com/docs/?x'],
      ['https://www.e.com/docs', 'https://www.e.com/', 'https://e.com/docs/', 'https://www.e.com/?/docs/'],
    ],
    [
      'below https://a.org/x, https://b.org/y/',
      pathPrefix('https://a.org/x', 'https://b.org/y/'),
      false,
      [
        'https://a.org/x',
        'https://a.org/x?q',
        'https://a.org/x/z',
        'https://b.org/y/',
        'https://b.org/y/z/z',
      ],
      ['https://a.org/xx', 'https://a.org/', 'https://b.org/y', SEED],
    ],
    [
      'below /x, /Caf%c3%a9/',
      pathPrefix('/x', '/Caf%c3%a9/'),
      false,
      ['https://a.org/x', 'http://b.org/x/y', 'http://b.org/Caf%C3%A9/'],
      ['https://a.org/y/x', 'https://a.org/?/x/'],
    ],
    ['below /', pathPrefix('/'), false, ['https://a.org/', 'https://a.org/x/y'], []],
    ['glob /a/*', '/a/*', false, ['https://e.com/a/b'], ['https://e.com/b']],
    ['matching /\\/20\\d\\d\\//', /\/20\d\d\//, false, ['https://e.com/2024/'], ['https://e.com/24/']],
    [
      'isShort',
      function isShort({ url }) {
        return url.length < 15
      },
      false,
      ['https://e.com/'],
      ['https://e.com/long'],
    ],
    [
      'a function',
      ({ depth, parent }) => depth === 1 && parent === 'https://e.com/',
      false,
      ['https://f.org/'],
      [],
    ],
    [
      'deep',
      predicate(({ parsed }) => parsed.searchParams.has('a'), 'deep'),
      false,
      ['https://e.com/?a'],
      ['https://e.com/a'],
    ],
    [
      'all(same site, glob /docs/**)',
      all(sameSite(), '/docs/**'),
      false,
      ['https://a.e.com/docs/b'],
      ['https://a.e.com/b', 'https://e.org/docs/b'],
    ],
    [
      'any(same host, glob f.org)',
      any(sameHost(), 'f.org'),
      false,
      ['https://www.e.com/', 'https://f.org/a'],
      ['https://e.com/'],
    ],
    [
      'not(glob /a, glob /b)',
      not('/a', '/b'),
      false,
      ['https://e.com/c'],
      ['https://e.com/a', 'https://e.com/b'],
    ],
    ['same site', 'site', true, ['https://e.com/'], ['https://site/']],
    ['glob site', glob('site'), false, ['https://site/'], ['https://e.com/']],
    ['anywhere', 'all', true, ['http://a.org/b'], []],
    ['same origin', 'origin', true, ['https://www.e.com/'], ['http://www.e.com/']],
    ['below the seeds', 'path', false, ['https://www.e.com/docs/a'], ['https://www.e.com/']],
    ['any(same host, glob f.org)', any('host', 'f.org'), false, ['https://www.e.com/'], ['https://host/']],
    [
      'all(same site, not(same host))',
      all(sameSite(), not(sameHost())),
      true,
      ['https://a.e.com/'],
      ['https://www.e.com/', 'https://f.org/'],
    ],
  ])('%s', async (name, like, perOrigin, yes, no) => {
    const scope = await started(like, SEED)
    expect(toRule(like).name).toBe(name)
    expect(scope.perOrigin).toBe(perOrigin)
    expect(yes.filter((url) => !asks(scope, url))).toEqual([])
    expect(no.filter((url) => asks(scope, url))).toEqual([])
  })

  test.each<[string, ScopeRule]>([
    ['sameOrigin', sameOrigin()],
    ['sameHost', sameHost()],
    ['sameSite', sameSite()],
    ['pathPrefix', pathPrefix()],
    ['all', all(sameSite(), any(sameHost()))],
  ])('%s keeps its seeds to one run, and takes more at any time', async (_, rule) => {
    const first = await started(rule, 'https://e.com/')
    const second = await started(rule, 'https://f.org/')
    const answers = (scope: ScopeTest) =>
      ['https://e.com/a', 'https://f.org/a'].map((url) => asks(scope, url))
    expect(answers(first)).toEqual([true, false])
    expect(answers(second)).toEqual([false, true])
    first.addSeed?.('https://f.org/')
    expect(answers(first)).toEqual([true, true])
  })

  it('says no to everything when it speaks of seeds and has none', async () => {
    for (const rule of [sameOrigin(), sameHost(), sameSite(), pathPrefix()]) {
      expect(asks(await started(rule), 'https://e.com/')).toBe(false)
    }
  })

  it('stays quick with very many seeds', async () => {
    const scope = await started(pathPrefix())
    for (let n = 0; n < 100_000; n++) scope.addSeed?.(`https://e.com/${n}/`)
    expect(asks(scope, 'https://e.com/77777/a/b')).toBe(true)
    const start = cpuMs()
    for (let n = 0; n < 1000; n++) asks(scope, `https://e.com/x${'/a'.repeat(500)}`)
    expect(cpuMs() - start).toBeLessThan(5000)
  })
})

describe('matching', () => {
  test.each(['g', 'y', 'gy'])(
    'ignores and keeps the position of a regular expression with the flag %s',
    (flags) => {
      const mine = new RegExp('https', flags)
      mine.lastIndex = 3
      const scope = matching(mine).start()
      for (let round = 0; round < 3; round++) expect(asks(scope, 'https://e.com/')).toBe(true)
      expect(mine.lastIndex).toBe(3)
    },
  )
})

describe('a predicate', () => {
  it('lets what it throws pass', () => {
    const scope = predicate(() => {
      throw new RangeError('mine')
    }).start()
    expect(() => asks(scope, 'https://e.com/')).toThrow(RangeError)
  })

  it('must answer at once', () => {
    const later = (async () => false) as unknown as () => boolean
    expect(() => asks(predicate(later).start(), 'https://e.com/')).toThrow(/returned a promise/)
    const made = (() => sameSite()) as unknown as () => boolean
    expect(() => asks(predicate(made).start(), 'https://e.com/')).toThrow(/returned a scope rule/)
  })

  it('parses the URL once, when asked', () => {
    const target = scopeTarget('https://e.com:81/a?b', 2, undefined)
    expect(target).toMatchObject({
      url: 'https://e.com:81/a?b',
      host: 'e.com:81',
      depth: 2,
      parent: undefined,
    })
    expect(target.parsed.search).toBe('?b')
    expect(target.parsed).toBe(target.parsed)
  })
})

describe('an invalid scope', () => {
  test.each<[what: string, make: () => unknown, says: RegExp]>([
    ['undefined', () => toRule(undefined as never), /got undefined; allowed: 'site', 'host'.*sameSite\(\)/],
    ['a number', () => toRule(7 as never), /got 7;/],
    ['an array', () => toRule(['/a'] as never), /all\(\) or any\(\)/],
    ['an object', () => toRule({ test: () => true } as never), /without name and start/],
    ['a maker of rules', () => toRule(sameSite as never), /write sameSite\(\)/],
    ['a maker inside', () => all('/a', not as never), /write not\(\)/],
    ['a bare word', () => toRule('sites'), /^got 'sites'; .*for a path: '\/sites'; .*glob\('sites'\)$/],
    ['a bare word inside', () => all('/a', not('same-site')), /^not\(\): got 'same-site'; allowed: 'site'/],
    ['a name that objects inherit', () => toRule('constructor'), /got 'constructor'/],
    ['an empty glob', () => toRule(''), /glob/],
    ['a relative prefix', () => pathPrefix('docs/'), /'docs\/'/],
    ['another scheme', () => pathPrefix('ftp://e.com/'), /ftp/],
    ['a prefix without scheme', () => pathPrefix('//e.com/'), /'\/\/e.com\/'/],
    ['no text', () => pathPrefix(7 as never), /got 7/],
    ['no expression', () => matching('a' as never), /regular expression/],
    ['no function', () => predicate(undefined as never), /function/],
    ['an empty all', () => all(), /at least one/],
    ['an empty any', () => any(), /at least one/],
    ['a glob of the wrong type', () => glob(7 as never), /glob 7/],
  ])('%s', (_, make, says) => {
    expect(make).toThrow(says)
    expect(make).toThrow(expect.objectContaining({ code: 'KUMO_INVALID_OPTION' }))
    expect(make).toThrow(KumoError)
  })

  it('throws if a site rule is used before it is open', () => {
    expect(() => sameSite().start().addSeed?.('https://e.com/')).toThrow(/open\(\)/)
  })
})
