/**
 * Code that users bring may throw, reject or never return. It then harms the page it was given, and nothing else:
 * the links of that page are followed, other pages arrive, and no promise is left unhandled.
 */

import type { Crawler, Failure, Page } from 'kumo'
import { describe, expect, test } from 'vitest'
import { crawl, direct, linksTo, pathsOf, site, sleep, watchRejections } from './support.js'

const routes = { '/': linksTo('/bad'), '/bad': linksTo('/after'), '/after': 'end' }
const never = () => new Promise<never>(() => {})
const isBad = (page: Page) => page.url.endsWith('/bad')
const boom = new Error('boom')

/** Does something to the bad page only. */
function onBad<T>(act: () => T): (page: Page) => T | undefined {
  return (page) => (isBad(page) ? act() : undefined)
}

function raise(): never {
  throw boom
}

async function reject(): Promise<never> {
  await sleep(1)
  throw boom
}

type Wrong = [what: string, spoil: (crawler: Crawler) => Crawler<object>, code: string, message: string]

describe('an extractor', () => {
  const wrongs: Wrong[] = [
    ['throws', (c) => c.extract({ field: onBad(raise) }), 'extract-failed', 'boom'],
    ['rejects', (c) => c.extract({ field: onBad(reject) }), 'extract-failed', 'boom'],
    [
      'throws as a plugin',
      (c) => c.extract({ name: 'plug', extract: onBad(raise) }),
      'extract-failed',
      "extractor 'plug' threw: boom",
    ],
    [
      'rejects in one field and throws in the next',
      (c) => c.extract({ one: onBad(reject), two: onBad(raise) }),
      'extract-failed',
      'boom',
    ],
    [
      'throws in one extractor and rejects in the next',
      (c) => c.extract({ one: onBad(raise) }).extract({ name: 'next', extract: onBad(reject) }),
      'extract-failed',
      'fields one',
    ],
    ['never returns', (c) => c.extract({ name: 'slow', extract: onBad(never) }), 'extract-timeout', "'slow'"],
    [
      'returns something that is no link',
      (c) =>
        c.extract({
          name: 'plug',
          extract: onBad(() => ({ links: [undefined as unknown as string, '/after'] })),
        }),
      'extract-failed',
      'link',
    ],
    [
      'returns links that throw when they are read',
      (c) => c.extract({ name: 'plug', extract: onBad(() => ({ links: { [Symbol.iterator]: raise } })) }),
      'extract-failed',
      'boom',
    ],
    [
      'throws something that is no error',
      (c) =>
        c.extract({
          field: onBad(() => {
            throw null
          }),
        }),
      'extract-failed',
      'null',
    ],
  ]
  test.each(wrongs)('that %s fails its page alone', async (_, spoil, code, message) => {
    const rejections = watchRejections()
    const { url } = await site(routes)
    const { pages, failures, summary } = await crawl(spoil(direct.timeout({ extract: 150 })).seeds(url()))
    expect(pathsOf(pages)).toEqual(['/', '/after'])
    expect(failures).toMatchObject([{ url: url('/bad'), code, final: true }])
    expect(failures[0]!.message).toContain(message)
    expect(summary).toMatchObject({ reason: 'done', pages: 2, failed: 1, failures: { [code]: 1 } })
    expect(await rejections()).toEqual([])
  })

  test('that throws leaves what the others found', async () => {
    const { url } = await site({ '/': 'start', '/found': 'end' })
    const { pages, failures } = await crawl(
      direct
        .seeds(url())
        .extract({ name: 'broken', extract: (page) => (page.url.endsWith('/') ? raise() : undefined) })
        .extract({ name: 'finder', extract: () => ({ links: ['/found'] }) }),
    )
    expect(failures.map(({ code }) => code)).toEqual(['extract-failed'])
    expect(pathsOf(pages)).toEqual(['/found'])
  })

  test('may return a promise of any make', async () => {
    const { url } = await site({ '/': 'start', '/found': 'end' })
    const thenable = <T>(value: T) => {
      // biome-ignore lint/suspicious/noThenProperty: a promise that is not a Promise is the subject.
      return { then: (take: (value: T) => void) => take(value) } as unknown as Promise<T>
    }
    const { pages } = await crawl(
      direct
        .seeds(url())
        .extract({ late: () => thenable('value') })
        .extract({ name: 'finder', extract: () => thenable({ links: ['/found'] }) }),
    )
    expect(pages.map(({ data }) => data.late)).toEqual(['value', 'value'])
    expect(pathsOf(pages)).toEqual(['/', '/found'])
  })
})

describe('a hook or a listener', () => {
  const wrongs: Wrong[] = [
    ['listener throws', (c) => c.on('page', onBad(raise)), 'hook-failed', 'a page listener threw: boom'],
    ['listener rejects', (c) => c.on('page', onBad(reject)), 'hook-failed', 'boom'],
    ['listener never returns', (c) => c.on('page', onBad(never)), 'hook-timeout', 'a page listener'],
    ['hook throws', (c) => c.use({ name: 'h', page: onBad(raise) }), 'hook-failed', "hook 'h' threw: boom"],
    ['hook rejects', (c) => c.use({ name: 'h', page: onBad(reject) }), 'hook-failed', "hook 'h' threw: boom"],
    ['hook never returns', (c) => c.use({ name: 'h', page: onBad(never) }), 'hook-timeout', "hook 'h'"],
  ]
  test.each(wrongs)(
    '%s: the failure is that page’s, and everybody still gets the page',
    async (_, spoil, code, message) => {
      const rejections = watchRejections()
      const { url } = await site(routes)
      const { pages, failures, summary } = await crawl(spoil(direct.timeout({ hook: 150 })).seeds(url()))
      expect(pathsOf(pages)).toEqual(['/', '/after', '/bad'])
      expect(failures).toMatchObject([{ url: url('/bad'), code, final: true }])
      expect(failures[0]!.message).toContain(message)
      expect(summary).toMatchObject({ reason: 'done', failures: { [code]: 1 } })
      expect(await rejections()).toEqual([])
    },
  )

  test('the cause is what was thrown', async () => {
    const { url } = await site({ '/': 'end' })
    const { failures } = await crawl(direct.seeds(url()).on('page', raise))
    expect(failures[0]!.cause).toBe(boom)
  })

  test('listeners of every other event may throw or reject without harm', async () => {
    const rejections = watchRejections()
    const { url } = await site({
      '/': linksTo('/gone', '/moved', 'mailto:x', '/slow'),
      '/moved': { status: 301, headers: { location: '/slow' } },
      '/slow': (_, response) => void setTimeout(() => response.end('x'), 1100),
    })
    const heard: string[] = []
    let crawler = direct.seeds(url())
    for (const event of ['failure', 'skip', 'redirect', 'progress', 'end'] as const) {
      crawler = crawler
        .on(event, () => {
          heard.push(event)
          raise()
        })
        .on(event, reject)
    }
    const summary = await crawler.use({ name: 'h', failure: raise }).use({ name: 'i', failure: reject }).run()
    expect(summary).toMatchObject({ reason: 'done', pages: 2 })
    expect(new Set(heard)).toEqual(new Set(['failure', 'skip', 'redirect', 'progress', 'end']))
    expect(await rejections()).toEqual([])
  })

  test('a slow one keeps its page’s slot, so the crawl waits', async () => {
    const { url, requests } = await site({ '/': linksTo('/a'), '/a': 'end' })
    const asked: number[] = []
    await direct
      .seeds(url())
      .on('page', async () => {
        await sleep(60)
        asked.push(requests.length)
      })
      .run()
    expect(asked).toEqual([1, 2])
  })
})

describe('a scope', () => {
  test('that throws for a link keeps that link out, and says so', async () => {
    const rejections = watchRejections()
    const { url, requests } = await site({
      '/': linksTo('/a', '/bad', '/c'),
      '/a': 'a',
      '/c': linksTo('/bad'),
    })
    const { pages, failures } = await crawl(
      direct.seeds(url()).scope(({ url }) => (url.endsWith('/bad') ? raise() : true)),
    )
    expect(pathsOf(pages)).toEqual(['/', '/a', '/c'])
    expect(requests.map(({ path }) => path)).not.toContain('/bad')
    expect(failures).toHaveLength(2)
    expect(failures[0]).toMatchObject({ url: url('/bad'), code: 'scope-failed', final: true, cause: boom })
    expect(failures[0]!.message).toContain('boom')
    expect(await rejections()).toEqual([])
  })

  test('that answers with a promise is told that it may not', async () => {
    const { url } = await site({ '/': linksTo('/a'), '/a': 'a' })
    const { failures } = await crawl(
      direct.seeds(url()).scope((async () => true) as unknown as () => boolean),
    )
    expect(failures).toMatchObject([{ url: url('/a'), code: 'scope-failed' }])
    expect(failures[0]!.message).toContain('returned a promise')
  })

  test('of the user’s own make that throws for an origin is reported, and the crawl goes on', async () => {
    const { url } = await site({ '/': linksTo('/a', 'http://elsewhere.invalid/'), '/a': 'a' })
    const { pages, failures } = await crawl(
      direct.seeds(url()).scope({
        name: 'mine',
        start: () => ({
          perOrigin: true,
          test: ({ host }) => (host === 'elsewhere.invalid' ? raise() : true),
        }),
      }),
    )
    expect(pathsOf(pages)).toEqual(['/', '/a'])
    expect(failures).toMatchObject([{ url: 'http://elsewhere.invalid/', code: 'scope-failed' }])
  })
})

describe('a part that cannot be opened or closed', () => {
  test.each<[string, (c: Crawler) => Crawler<object>, string]>([
    ['extractor', (c) => c.extract({ name: 'e', open: raise, extract: () => {} }), 'KUMO_OPEN_FAILED'],
    ['hook', (c) => c.use({ name: 'h', open: reject, page: () => {} }), 'KUMO_OPEN_FAILED'],
    ['hook at the end', (c) => c.use({ name: 'h', page: () => {}, close: reject }), 'KUMO_CLOSE_FAILED'],
  ])('%s: run() rejects, names it, and the others are closed', async (what, spoil, code) => {
    const { url } = await site({ '/': 'end' })
    const story: string[] = []
    const other = { name: 'other', page: () => {}, close: () => void story.push('closed') }
    const run = spoil(
      direct
        .seeds(url())
        .use(other)
        .extract({ name: 'x', extract: () => {}, close: other.close }),
    ).run()
    await expect(run).rejects.toMatchObject({ name: 'KumoError', code, cause: boom })
    await expect(run).rejects.toThrow(what === 'extractor' ? /extractor/ : /hook 'h'/)
    expect(story).toEqual(what === 'extractor' ? ['closed'] : ['closed', 'closed'])
  })

  test.each(['resolves', 'rejects'])(
    'nobody is told anything after the close, though an extractor %s',
    async (how) => {
      const rejections = watchRejections()
      const { url } = await site({ '/': linksTo('/a'), '/a': 'a' })
      const controller = new AbortController()
      const story: string[] = []
      let release = () => {}
      const tell = (failure: Failure) => void story.push(failure.code)
      const summary = await direct
        .seeds(url())
        .extract({
          slow: () => {
            controller.abort()
            return new Promise<void>((done, fail) => {
              release = how === 'resolves' ? done : () => fail(boom)
            })
          },
        })
        .use({
          name: 'h',
          page: () => void story.push('page'),
          failure: tell,
          close: () => void story.push('close'),
        })
        .run({ signal: controller.signal })
      expect(summary.reason).toBe('aborted')
      release()
      await sleep(30)
      expect(story).toEqual(['close'])
      expect(await rejections()).toEqual([])
    },
  )
})
