import { describe, expect, it } from 'vitest'
import { pageOf } from '../../src/conformance/page.js'
import { extraction } from '../../src/extract/by-type.js'
import type { Extracted, Extraction, Extractor } from '../../src/extract/contract.js'
import type { Clock } from '../../src/time.js'

/** Time stands still until a test says otherwise. */
function fakeClock() {
  let time = 0
  let timers: { at: number; callback: () => void }[] = []
  const clock: Clock = {
    now: () => time,
    wakeAt(at, callback) {
      const timer = { at, callback }
      timers.push(timer)
      return { cancel: () => void (timers = timers.filter((other) => other !== timer)) }
    },
  }
  const advance = (ms: number) => {
    time += ms
    const due = timers.filter(({ at }) => at <= time)
    timers = timers.filter(({ at }) => at > time)
    for (const { callback } of due) callback()
  }
  return { clock, advance, pending: () => timers.length }
}

const TIMEOUT_MS = 1000
const step = (extractors: readonly Extractor[], { clock } = fakeClock()) =>
  extraction({ extractors, clock, timeoutMs: TIMEOUT_MS })
const named = (name: string, extract: Extractor['extract'], more: Partial<Extractor> = {}): Extractor => ({
  name,
  extract,
  ...more,
})
const html = (body = '<a href="/scanned">') => pageOf({ url: 'https://example.com/', body })
const typed = (contentType: string) =>
  pageOf({ url: 'https://example.com/', body: 'x', headers: { 'content-type': contentType } })
const hrefs = ({ links }: Extracted) => [...links].map(({ href }) => href)
const nothing = () => undefined

describe('extraction, by media type', () => {
  const cases: [mediaTypes: string[] | undefined, met: string, wanted: boolean][] = [
    [undefined, 'text/html', true],
    [undefined, 'application/xhtml+xml', true],
    [undefined, 'text/plain', false],
    [['application/pdf'], 'application/pdf', true],
    [['application/pdf'], 'application/json', false],
    [['Application/PDF'], 'application/pdf', true],
    [['image/*'], 'image/png', true],
    [['image/*'], 'image/svg+xml', true],
    [['image/*'], 'video/mp4', false],
    [['image/*'], 'images', false],
    [['image/*'], 'image', false],
    [['*/*'], 'anything/else', true],
    [['text/plain', 'image/*'], 'image/gif', true],
    [['text/plain', 'image/*'], 'text/plain', true],
    [['text/plain', 'image/*'], 'text/css', false],
  ]
  it.for(cases)('an extractor of %o is given %o: %o', async ([mediaTypes, met, wanted]) => {
    let given = false
    const extract = () => void (given = true)
    const extractor = named('x', extract, mediaTypes && { mediaTypes })
    const all = step([extractor])
    expect(all.wants(met)).toBe(wanted)
    expect(all.wants(met)).toBe(wanted)
    await all.run(typed(met))
    expect(given).toBe(wanted)
  })

  it('downloads markup for its links though no extractor asks for it', () => {
    const all = step([named('pdf', nothing, { mediaTypes: ['application/pdf'] })])
    expect(['text/html', 'application/xhtml+xml', ''].map((type) => all.wants(type))).toEqual([
      true,
      true,
      true,
    ])
    expect(step([]).wants('image/png')).toBe(false)
  })

  it('takes a page without a media type for HTML', async () => {
    const seen: string[] = []
    const all = step([
      named('html', () => void seen.push('html')),
      named('images', () => void seen.push('images'), { mediaTypes: ['image/*'] }),
    ])
    await all.run(pageOf({ url: 'https://example.com/', body: 'x', headers: {} }))
    expect(seen).toEqual(['html'])
  })
})

describe('extraction of a page', () => {
  it('answers at once if every extractor does', () => {
    const answer = step([named('a', () => ({ links: ['/a'] }))]).run(html())
    expect(answer).not.toBeInstanceOf(Promise)
    const { links, base, problem } = answer as Extracted
    expect({ links: [...links], base, problem }).toEqual({
      links: [
        { href: '/scanned', tag: 'a', rel: undefined },
        { href: '/a', tag: 'plugin' },
      ],
      base: 'https://example.com/',
      problem: undefined,
    })
  })

  it('adds links after those of the scanner, in the order of the extractors', async () => {
    const all = step([
      named('slow', async () => ({ links: ['/slow'], data: { by: 'slow', slow: 1 } })),
      named('fast', () => ({ links: new Set(['/fast', '/more']), data: { by: 'fast' } })),
      named('idle', nothing),
      named('generator', () => ({
        links: (function* () {
          yield { href: '/made', tag: 'made', priority: 3 }
        })(),
      })),
    ])
    const page = html()
    const answer = await all.run(page)
    expect(hrefs(answer)).toEqual(['/scanned', '/slow', '/fast', '/more', '/made'])
    expect([...answer.links].at(-1)).toEqual({ href: '/made', tag: 'made', priority: 3 })
    expect(page.data).toEqual({ by: 'fast', slow: 1 })
    expect(page.links.map(({ url }) => url)).toEqual(
      hrefs(answer).map((path) => `https://example.com${path}`),
    )
  })

  it('runs extractors one after the other', async () => {
    const log: string[] = []
    const slow = (name: string) =>
      named(name, async () => {
        log.push(`${name} begins`)
        await Promise.resolve()
        log.push(`${name} ends`)
      })
    await step([slow('a'), named('b', () => void log.push('b')), slow('c')]).run(html())
    expect(log).toEqual(['a begins', 'a ends', 'b', 'c begins', 'c ends'])
  })

  it('has complete links though an extractor looked at them early', async () => {
    const page = html()
    await step([
      named('looks', ({ links }) => ({ data: { early: links.length } })),
      named('adds', () => ({ links: ['/added'] })),
    ]).run(page)
    expect([page.data, page.links.length]).toEqual([{ early: 1 }, 2])
  })

  it('returns the base URL of links', async () => {
    const answer = await step([]).run(html('<base href="/docs/"><a href="x">'))
    expect([answer.base, hrefs(answer)]).toEqual(['https://example.com/docs/', ['x']])
  })

  const boom = new Error('boom')
  const throwing = () => {
    throw boom
  }
  const failing: [what: string, Extractor['extract'], message: string][] = [
    ['throws', throwing, 'boom'],
    ['rejects', async () => throwing(), 'boom'],
    ['throws no error', () => Promise.reject('just words'), 'just words'],
    ['has links that throw', () => ({ links: { [Symbol.iterator]: throwing } }), 'boom'],
    ['has links that cannot be iterated over', () => ({ links: 7 }) as unknown as Extraction, 'not iterable'],
    ['has a string for links', () => ({ links: '/next' }), 'a string'],
    ['has a link that is none', () => ({ links: [undefined] }) as unknown as Extraction, "without an 'href'"],
    [
      'has a link with a priority that is none',
      () => ({ links: [{ href: '/a', tag: 'a', priority: Number.NaN }] }),
      "'priority'",
    ],
    [
      'has a link without an href',
      async () => ({ links: [{}] }) as unknown as Extraction,
      "without an 'href'",
    ],
  ]
  it.for(failing)('keeps what others found when an extractor %s', async ([, extract, message]) => {
    const page = html()
    const answer = await step([
      named('before', () => ({ links: ['/before'], data: { before: true } })),
      named('bad', extract),
      named('after', async () => ({ links: ['/after'], data: { after: true } })),
    ]).run(page)
    expect(answer.problem).toMatchObject({ code: 'extract-failed' })
    expect(answer.problem!.message).toMatch(/^extractor 'bad' threw: /)
    expect(answer.problem!.message).toContain(message)
    expect(hrefs(answer)).toEqual(['/scanned', '/before', '/after'])
    expect(page.data).toEqual({ before: true, after: true })
  })

  it('reports the first of several problems, in the order of the extractors', async () => {
    const late = named('late', async () => throwing())
    const first = named('first', throwing)
    expect((await step([first, late]).run(html())).problem?.message).toContain("'first'")
    expect((await step([late, first]).run(html())).problem?.message).toContain("'late'")
  })

  it('does not wait for ever, and ignores what comes too late', async () => {
    const time = fakeClock()
    let finish: (answer: Extraction) => void = nothing
    const slow = named('slow', () => new Promise<Extraction>((resolve) => void (finish = resolve)))
    const page = html()
    const running = step([slow, named('next', () => ({ links: ['/next'] }))], time).run(
      page,
    ) as Promise<Extracted>
    let over = false
    void running.then(() => void (over = true))
    time.advance(TIMEOUT_MS - 1)
    await new Promise(setImmediate)
    expect(over).toBe(false)
    time.advance(1)
    const answer = await running
    expect(answer.problem).toEqual({
      code: 'extract-timeout',
      message: "extractor 'slow' did not finish within 1000 ms",
    })
    finish({ links: ['/late'], data: { late: true } })
    await new Promise(setImmediate)
    expect([hrefs(answer), page.data, page.links.length]).toEqual([['/scanned', '/next'], {}, 2])
  })

  it('gives each extractor the full time limit, and leaves no timer behind', async () => {
    const time = fakeClock()
    const ends: (() => void)[] = []
    const slow = (name: string) =>
      named(name, () => new Promise<undefined>((resolve) => void ends.push(() => resolve(undefined))))
    const running = step([slow('a'), slow('b')], time).run(html()) as Promise<Extracted>
    for (let i = 0; i < 2; i++) {
      await new Promise(setImmediate)
      time.advance(TIMEOUT_MS - 1)
      ends[i]!()
    }
    expect((await running).problem).toBeUndefined()
    expect(time.pending()).toBe(0)
  })

  it('keeps pages apart that are extracted at once', async () => {
    const all = step([named('slow', async ({ url }) => ({ data: { url }, links: [url] }))])
    const pages = [1, 2, 3].map((i) => pageOf({ url: `https://example.com/${i}`, body: '' }))
    const answers = await Promise.all(pages.map((page) => all.run(page)))
    expect(answers.map(hrefs)).toEqual(pages.map(({ url }) => [url]))
    expect(pages.map(({ data }) => data)).toEqual(pages.map(({ url }) => ({ url })))
  })
})

describe('the life of extractors', () => {
  const logging = (log: string[], name: string, more: Partial<Extractor> = {}) =>
    named(name, nothing, {
      open: async () => void log.push(`open ${name}`),
      close: async () => void log.push(`close ${name}`),
      ...more,
    })
  const fails = (word: string) => () => {
    throw new Error(word)
  }

  it('opens and closes each once, in order', async () => {
    const log: string[] = []
    const all = step([logging(log, 'a'), named('plain', nothing), logging(log, 'b')])
    await all.open()
    await all.close()
    await all.close()
    expect(log).toEqual(['open a', 'open b', 'close a', 'close b'])
  })

  it('closes those that were opened if another could not be', async () => {
    const log: string[] = []
    const all = step([logging(log, 'a'), logging(log, 'b', { open: fails('no disk') }), logging(log, 'c')])
    await expect(all.open()).rejects.toThrow('no disk')
    await all.close()
    expect(log).toEqual(['open a', 'close a'])
  })

  it('closes all though one cannot be, and says so', async () => {
    const log: string[] = []
    const all = step([logging(log, 'a', { close: fails('stuck') }), logging(log, 'b')])
    await all.open()
    await expect(all.close()).rejects.toThrow('stuck')
    expect(log).toEqual(['open a', 'open b', 'close b'])
  })
})
