/** Modules run in the workers, closures in the thread of the program. */

import { threadId } from 'node:worker_threads'
import { Crawler, fromModule, type Page } from 'kumo'
import { expect, test } from 'vitest'
import { linksTo, pathsOf, site } from '../crawler/support.js'

const PLUGINS = new URL('./modules/plugins.mjs', import.meta.url)
const quick = new Crawler().delay(0).robots(false).workers(2)
const SITE = {
  '/': linksTo('/a', '/b', '/forbidden'),
  '/a': 'x',
  '/b': 'y',
  '/forbidden': 'z',
  '/from-module': 'm',
}

interface Where {
  thread: number
  isMain: boolean
  anchors: number
}

test('an extractor from a module runs in a worker, one of functions here; both see the page and add to it', async () => {
  const { url } = await site(SITE)
  const pages: Page<Where & { here: number; first: string | undefined }>[] = []
  await quick
    .seeds(url())
    .depth(1)
    .extract<Where>(PLUGINS)
    .extract({
      here: () => threadId,
      first: (page) => page.document.querySelector('a')?.textContent,
    })
    .on('page', (page) => void pages.push(page))
    .run()
  expect(pathsOf(pages)).toEqual(['/', '/a', '/b', '/forbidden', '/from-module'])
  for (const { data } of pages) {
    expect(data).toMatchObject({ isMain: false, here: threadId })
    expect(data.thread).not.toBe(threadId)
  }
  const start = pages.find((page) => page.url === url())!
  expect(start.data).toMatchObject({ anchors: 3, first: '/a' })
  expect(start.links.map((link) => new URL(link.url).pathname)).toEqual([
    '/a',
    '/b',
    '/forbidden',
    '/from-module',
  ])
  expect(start.body.length).toBe(SITE['/'].length)
  expect(start.headers.get('content-type')).toContain('text/html')
})

test('links that a closure adds are followed', async () => {
  const { url } = await site({ '/': 'x', '/hidden': 'y' })
  const crawler = quick.seeds(url()).extract({ name: 'adds', extract: () => ({ links: ['/hidden'] }) })
  const urls: string[] = []
  await crawler.on('page', (page) => void urls.push(page.url)).run()
  expect(urls.sort()).toEqual([url(), url('/hidden')])
})

test('a scope and a fetcher from modules', async () => {
  const { url } = await site(SITE)
  const scoped = await quick
    .seeds(url())
    .scope('site', fromModule(PLUGINS, { export: 'scope' }))
    .run()
  expect(scoped).toMatchObject({ pages: 3, skips: { scope: 1 } })
  const titles: string[] = []
  await quick
    .seeds('https://nowhere.example/')
    .fetcher(fromModule(PLUGINS, { export: 'fetcher' }))
    .on('page', ({ title }) => void titles.push(title))
    .run()
  expect(titles.sort()).toEqual([
    expect.stringMatching(/^https:\/\/nowhere.example\/ of thread \d+$/),
    expect.stringMatching(/^https:\/\/nowhere.example\/next of thread \d+$/),
  ])
})

test('data that cannot be sent is the failure of its page, and says what to do', async () => {
  const { url } = await site({ '/': 'x' })
  const failures: string[] = []
  const summary = await quick
    .seeds(url())
    .extract(fromModule(PLUGINS, { export: 'unsendable' }))
    .on('page', () => {})
    .on('failure', ({ code, message }) => void failures.push(`${code}: ${message}`))
    .run()
  expect(failures).toMatchObject([
    expect.stringMatching(/hook-failed: .*page\.data of .*cannot be sent.*fromModule\(\)/s),
  ])
  expect(summary.reason).toBe('done')
})

test('what cannot run in a worker is refused with the way to make it a module', async () => {
  await expect(
    quick
      .seeds('https://example.com/')
      .scope(() => true)
      .run(),
  ).rejects.toMatchObject({
    code: 'KUMO_NOT_PORTABLE',
    message: expect.stringContaining("new URL('./scope.js', import.meta.url)"),
  })
})

test('the error of a closure is the very one that a failure tells', async () => {
  const { url } = await site({ '/': 'x' })
  const mistake = new TypeError('a mistake of mine')
  const causes: unknown[] = []
  await quick
    .seeds(url())
    .use({
      name: 'mistaken',
      page() {
        throw mistake
      },
    })
    .on('failure', ({ cause }) => void causes.push(cause))
    .run()
  expect(causes).toEqual([mistake])
  expect(causes[0]).toBe(mistake)
})
