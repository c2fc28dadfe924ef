/** Hooks: queues of their own, redirects and skips, and flushes before the store commits what they saw. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Hook, KumoError, level, type Page, type Redirect, type Skip, type Store } from 'kumo'
import type { OpenStore } from 'kumo/adapters'
import { describe, expect, onTestFinished, test } from 'vitest'
import { direct, linkedPages, linksTo, rejectionOf, site, until, WORKERS, web } from './support.js'

/** Each worker has a queue of its own. */
const SHARDS = Math.max(1, WORKERS)

/** A hook that takes pages in, and lets them go one by one or all at once. */
function gate(queue?: Hook['queue']) {
  const begun: string[] = []
  const waiting: (() => void)[] = []
  let isOpen = false
  const hook: Hook = {
    name: 'gate',
    queue,
    page: ({ url }) => {
      begun.push(new URL(url).pathname)
      return isOpen ? undefined : new Promise((resolve) => void waiting.push(resolve))
    },
  }
  const open = () => {
    isOpen = true
    for (const go of waiting.splice(0)) go()
  }
  return { hook, begun, open }
}

/** As many hosts as pages, so that politeness holds nothing back. */
function manyHosts(url: (path: string, host: string) => string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => url('/', `127.0.8.${i + 1}`))
}

/** The same store, which cannot wait for anything before a commit. */
function without(store: Store): Store {
  return {
    name: store.name,
    open: async (context): Promise<OpenStore> => {
      const { beforeCommit: _, ...opened } = await store.open(context)
      return opened
    },
  }
}

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kumo-hooks-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

describe('a queue', () => {
  test('without one, pages keep their slots; with one, the next are fetched meanwhile', async () => {
    const { url, requests } = await site({ '/': 'page' })
    const seeds = manyHosts(url, 40)
    for (const queue of [undefined, {}]) {
      requests.length = 0
      const { hook, begun, open } = gate(queue)
      const run = direct.concurrency(2).seeds(seeds).use(hook).start()
      if (queue === undefined) {
        await until(() => begun.length === 2, 'two pages in the hook')
        expect(requests).toHaveLength(2)
      } else {
        await until(() => requests.length === 40, 'all requests')
        expect(begun).toHaveLength(SHARDS)
        // Nothing is settled before the hook is done.
        expect(run.stats()!.pages).toBe(0)
      }
      open()
      expect(await run.done).toMatchObject({ reason: 'done', pages: 40 })
      expect(begun).toHaveLength(40)
    }
  })

  test('releases the host too, and the pause still counts from the end of the visit', async () => {
    const server = await web({ pagesPerHost: 12, latencyMs: [1, 10] })
    const { hook, begun, open } = gate({})
    const run = direct.delay(30).seeds(server.url(0)).use(hook).start()
    await until(() => run.stats()?.queues.gate?.queue === 12, 'all pages of the host')
    expect(begun).toHaveLength(1)
    open()
    expect((await run.done).pages).toBe(12)
    const { perHost } = await server.report(0, { gapMs: 30 })
    expect(perHost).toMatchObject({ overlaps: 0, mostOpen: 1, belowGap: 0 })
  })

  test('that is full holds the crawl back, by pages or by bytes', async () => {
    const { url, requests } = await site({ '/': 'x'.repeat(1000) })
    for (const [queue, room] of [
      [{ pages: 3 }, 3],
      [{ bytes: 2500 }, 2],
      // A page that is larger than the queue is taken in alone.
      [{ bytes: 10 }, 1],
    ] as const) {
      requests.length = 0
      const { hook, open } = gate(queue)
      const run = direct
        .concurrency(2 * SHARDS)
        .seeds(manyHosts(url, 60))
        .use(hook)
        .start()
      const most = (room + 2) * SHARDS
      await until(() => requests.length === most, `${most} requests`)
      await until(() => run.stats()?.queues.gate?.queue === room * SHARDS, 'a full queue')
      expect(run.stats()!.inFlight).toBe(2 * SHARDS)
      expect(requests).toHaveLength(most)
      open()
      expect((await run.done).pages).toBe(60)
    }
  })

  test('gives the hook as many pages at once as it asks for', async () => {
    const { url } = await site({ '/': 'page' })
    let now = 0
    let most = 0
    const hook: Hook = {
      name: 'busy',
      queue: { parallelism: 5 },
      async page() {
        most = Math.max(most, ++now)
        await new Promise((resolve) => setTimeout(resolve, 5))
        now--
      },
    }
    const summary = await direct.concurrency(2).seeds(manyHosts(url, 40)).use(hook).run()
    expect(summary.pages).toBe(40)
    expect(most).toBeGreaterThan(2)
    expect(most).toBeLessThanOrEqual(5 * SHARDS)
  })

  test('two hooks with queues, one without and a listener all get every page', async () => {
    const { url } = await site(linkedPages(30))
    const got: Record<string, string[]> = { one: [], two: [], direct: [], listener: [] }
    const hook = (name: string, queue?: Hook['queue']): Hook => ({
      name,
      queue,
      page: async (page) => {
        await Promise.resolve()
        got[name]!.push(page.url)
      },
    })
    const summary = await direct
      .seeds(url())
      .use(hook('one', { pages: 2 }))
      .use(hook('direct'))
      .use(hook('two', { parallelism: 3, pages: 1 }))
      .on('page', ({ url }) => void got.listener!.push(url))
      .run()
    expect(summary).toMatchObject({ pages: 30, failed: 0, inFlight: 0 })
    for (const urls of Object.values(got)) expect(new Set(urls).size).toBe(30)
    expect(Object.keys(summary.queues).sort()).toEqual(['one', 'two'])
    expect(summary.queues.one).toMatchObject({ done: 30, queue: 0, bytes: 0 })
  })

  test('stop() empties it; an abort leaves its pages pending', async () => {
    const { url, requests } = await site({ '/': 'page' })
    for (const end of ['stop', 'abort'] as const) {
      requests.length = 0
      const { hook, begun, open } = gate({})
      const controller = new AbortController()
      const run = direct
        .concurrency(2 * SHARDS)
        .seeds(manyHosts(url, 20))
        .use(hook)
        .start({ signal: controller.signal })
      await until(() => requests.length === 20, 'all requests')
      await until(() => run.stats()?.queues.gate?.queue === 20, 'all pages in the queue')
      if (end === 'stop') run.stop()
      else controller.abort()
      await new Promise((resolve) => setTimeout(resolve, 50))
      open()
      const summary = await run.done
      if (end === 'stop') expect(summary).toMatchObject({ pages: 20, pending: 0 })
      else {
        // Those that the hook had begun may finish.
        expect(summary.pages).toBeLessThanOrEqual(SHARDS)
        // A thread without CPU for the whole grace period cannot report what becomes of its visits.
        expect(summary.pages + summary.pending + summary.inFlight).toBe(20)
        expect(begun.length).toBeLessThanOrEqual(SHARDS)
      }
    }
  })

  test('an abort does not wait for a hook that never returns', async () => {
    const { url } = await site({ '/': 'page' })
    const controller = new AbortController()
    const { hook, begun } = gate({})
    const run = direct.seeds(manyHosts(url, 5)).use(hook).start({ signal: controller.signal })
    await until(() => begun.length > 0, 'the first page')
    controller.abort()
    expect(await run.done).toMatchObject({ reason: 'aborted', pages: 0, pending: expect.any(Number) })
  })

  test('a page that the hook fails or is late with is a failure; waiting is not counted', async () => {
    const { url } = await site(linkedPages(18))
    const failures: string[] = []
    const hook: Hook = {
      name: 'odd',
      queue: {},
      async page({ url }) {
        if (url.endsWith('/3')) throw new Error('no threes')
        if (url.endsWith('/4')) await new Promise(() => {})
        // All together take longer than the limit of one.
        await new Promise((resolve) => setTimeout(resolve, 100))
      },
    }
    const summary = await direct
      .timeout({ hook: '1500ms' })
      .seeds(url())
      .use(hook)
      .on('failure', ({ code, url }) => void failures.push(`${code} ${new URL(url).pathname}`))
      .run()
    expect(failures.sort()).toEqual(['hook-failed /3', 'hook-timeout /4'])
    expect(summary).toMatchObject({ pages: 18, failures: { 'hook-failed': 1, 'hook-timeout': 1 } })
  })

  test('page.follow() works until the hook is done', async () => {
    const { url } = await site({ '/': linksTo('/a'), '/a': 'a', '/b': 'b', '/c': 'c' })
    const labels: (string | undefined)[] = []
    const hook: Hook = {
      name: 'follower',
      queue: {},
      async page(page) {
        await new Promise((resolve) => setTimeout(resolve, 5))
        labels.push(`${new URL(page.url).pathname} ${page.request.label}`)
        if (page.url.endsWith('/a')) page.follow('/b', { label: 'from the queue' })
      },
    }
    await direct
      .seeds(url())
      .use(hook)
      .on('page', (page) => {
        if (page.depth === 0) page.follow('/c', { label: 'from a listener' })
      })
      .run()
    expect(labels.sort()).toEqual(['/ undefined', '/a undefined', '/b from the queue', '/c from a listener'])
  })

  test('limits stay exact', async () => {
    const { url } = await site(linkedPages(50))
    const got: string[] = []
    const hook: Hook = { name: 'slow', queue: {}, page: async ({ url }) => void got.push(url) }
    const summary = await direct.limit({ pages: 17 }).seeds(url()).use(hook).run()
    expect(summary).toMatchObject({ reason: 'limit', pages: 17 })
    expect(got).toHaveLength(17)
    const host = await direct.limit({ pagesPerHost: 7 }).seeds(url()).use(hook).run()
    expect(host.pages).toBe(7)
  })

  test('statistics name the hook that the crawl waits for', async () => {
    const { url } = await site({ '/': 'page' })
    const hook: Hook = {
      name: 'snail',
      queue: { pages: 2 },
      page: () => new Promise((resolve) => setTimeout(resolve, 20)),
    }
    const summary = await direct
      .concurrency(4 * SHARDS)
      .seeds(manyHosts(url, 60))
      .use(hook)
      .run()
    expect(summary.bottleneck).toBe('hook snail')
    expect(summary.queues.snail!.usedShare).toBeGreaterThan(0.5)
    expect(summary.queues.snail!.done).toBe(60)
  })
})

test('hooks receive redirects and skips, with or without listeners', async () => {
  const { url } = await site({
    '/': linksTo('/old', 'https://elsewhere.example/'),
    '/old': { status: 301, headers: { location: '/new' } },
    '/new': 'new',
  })
  const redirects: Redirect[] = []
  const skips: Skip[] = []
  const hook: Hook = {
    name: 'listener',
    redirect: async (redirect) => void redirects.push(redirect),
    skip: async (skip) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      skips.push(skip)
    },
  }
  await direct.seeds(url()).use(hook).run()
  expect(redirects).toMatchObject([{ url: url('/old'), to: url('/new'), status: 301, parent: url('/') }])
  // The end of the crawl waits for them.
  expect(skips).toMatchObject([{ url: 'https://elsewhere.example/', reason: 'scope', parent: url('/') }])
})

describe('flush', () => {
  test('with a store in memory: once it was given something, before close', async () => {
    const { url } = await site(linkedPages(5))
    const calls: string[] = []
    const hook: Hook = {
      name: 'flushed',
      page: ({ url }) => void calls.push(new URL(url).pathname),
      flush: async () => {
        await Promise.resolve()
        calls.push('flush')
      },
      close: () => void calls.push('close'),
    }
    await direct.seeds(url()).use(hook).run()
    expect(calls.slice(0, 5).sort()).toEqual(['/', '/1', '/2', '/3', '/4'])
    expect(calls.at(-1)).toBe('close')
    expect(calls.slice(5, -1)).toContain('flush')
    expect(new Set(calls.slice(5, -1))).toEqual(new Set(['flush']))
  })

  test('with a durable store: before every commit, and never two at a time', async () => {
    const { url } = await site(linkedPages(40))
    let unflushed = 0
    let flushing = 0
    let flushes = 0
    const hook: Hook = {
      name: 'flushed',
      page: () => void unflushed++,
      async flush() {
        expect(++flushing).toBe(1)
        await new Promise((resolve) => setTimeout(resolve, 10))
        flushing--
        flushes++
        unflushed = 0
      },
      close: () => expect(unflushed).toBe(0),
    }
    const store = level(freshFolder(), { commitEvery: 10 })
    const summary = await direct
      .store(store)
      .workers(WORKERS)
      .seeds(url())
      .use(hook)
      .on('page', () => new Promise((resolve) => setTimeout(resolve, 5)))
      .run()
    expect(summary.pages).toBe(40)
    expect(flushes).toBeGreaterThan(2)
  })

  test.each(['at once', 'late', 'at the end', 'before a settlement'])(
    'that fails %s ends the crawl, and what was not flushed is delivered again',
    async (when) => {
      const { url } = await site(linkedPages(30))
      const folder = freshFolder()
      const durable = new Set<string>()
      const got = new Set<string>()
      let isBroken = true
      const store = () => level(folder, { commitEvery: 10 })
      const run = () => {
        let buffer: Page[] = []
        let flushes = 0
        const hook: Hook = {
          name: 'index',
          queue: when === 'late' ? {} : undefined,
          page: async (page) => {
            await new Promise((resolve) => setTimeout(resolve, 3))
            buffer.push(page)
            got.add(page.url)
          },
          async flush() {
            const taken = buffer
            buffer = []
            await Promise.resolve()
            const isDue = when === 'at once' || (when === 'at the end' ? got.size === 30 : ++flushes > 2)
            if (isBroken && isDue) throw new Error('the disk of the index is full')
            for (const page of taken) durable.add(page.url)
          },
        }
        // A store of one's own may lack what lets commits wait.
        if (when === 'before a settlement') return direct.store(without(store())).seeds(url()).use(hook).run()
        return direct.store(store()).workers(WORKERS).seeds(url()).use(hook).run()
      }
      const error = await rejectionOf(run())
      expect(error).toBeInstanceOf(KumoError)
      expect(error).toMatchObject({ code: 'KUMO_FLUSH_FAILED' })
      expect((error as Error).message).toContain(
        "hook 'index' could not be flushed: the disk of the index is full",
      )
      if (when === 'at once') expect(durable.size).toBe(0)
      isBroken = false
      expect(await run()).toMatchObject({ reason: 'done' })
      // Whatever the store counts as settled, the hook has made durable.
      expect(durable.size).toBe(30)
    },
  )
})
