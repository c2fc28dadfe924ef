import { Readable } from 'node:stream'
import { Crawler, memory, type Store } from 'kumo'
import type { FetchedResponse } from 'kumo/adapters'
import { virtualClock } from 'kumo/sim'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LoopTime } from '../loop-time.js'

const SEED = 'http://a.example/'
/** Called when something that will never answer is asked. */
let onStuck = () => {}
const never = () => {
  onStuck()
  return new Promise<never>(() => {})
}

function page(html: string): FetchedResponse {
  const headers = {
    get: (name: string) => (name === 'content-type' ? 'text/html' : undefined),
    entries: () => [],
  }
  return {
    ok: true,
    status: 200,
    headers,
    body: Buffer.from(html),
    wireBytes: html.length,
    skippedBody: false,
  }
}

const quick = new Crawler()
  .seeds(SEED)
  .robots(false)
  .delay(0)
  .fetcher(async () => page('<a href="/b">b</a>'))

/** The memory store with one thing that never answers. */
function stuckStore(stuck: string): Store {
  return {
    name: 'stuck',
    async open(context) {
      if (stuck === 'open') await never()
      const opened = await memory().open(context)
      const frontier = new Proxy(opened.frontier, {
        get: (target, name) => (name === stuck ? never : bound(target, name)),
      })
      return { ...opened, frontier }
    },
  }
}

function bound(target: object, name: string | symbol): unknown {
  const value = (target as Record<string | symbol, unknown>)[name]
  return typeof value === 'function' ? value.bind(target) : value
}

/** Aborts a crawl a moment after it has got stuck. */
async function abortStuck(crawler: Crawler): Promise<{ reason: string; ms: number }> {
  const controller = new AbortController()
  const stuck = new Promise<LoopTime>((resolve) => {
    onStuck = () => {
      setTimeout(() => {
        controller.abort()
        resolve(new LoopTime())
      }, 100)
      onStuck = () => {}
    }
  })
  const reason = await crawler.run({ signal: controller.signal }).then(
    (summary) => summary.reason,
    (error) => error.code,
  )
  return { reason, ms: (await stuck).stop() }
}

describe('an abort ends a run though', () => {
  it.each<[string, Crawler, string]>([
    ['a hook never opens', quick.use({ name: 'h', open: never, page: () => {} }), 'KUMO_OPEN_FAILED'],
    ['a hook never closes', quick.use({ name: 'h', page: () => {}, close: never }), 'done'],
    ['a hook never returns', quick.use({ name: 'h', page: never }), 'aborted'],
    ['an extractor never returns', quick.extract({ x: never }), 'aborted'],
    ['an extractor never closes', quick.extract({ name: 'e', extract: () => {}, close: never }), 'done'],
    ['a listener of end never returns', quick.on('end', never), 'done'],
    ['a fetcher never returns', quick.fetcher(never), 'aborted'],
    [
      'a source of seeds never yields',
      quick.seeds({ [Symbol.asyncIterator]: () => ({ next: never }) }),
      'aborted',
    ],
  ])('%s', async (_, crawler, reason) => {
    const ended = await abortStuck(crawler)
    expect(ended.reason).toBe(reason)
    // Half a second of patience and a quarter for a part to close; the rest is for a busy machine.
    expect(ended.ms).toBeLessThan(4000)
  })

  it.each(['open', 'lease', 'settle'])('a store never answers to %s', async (stuck) => {
    const ended = await abortStuck(quick.store(stuckStore(stuck)))
    expect(ended.reason).toBe(stuck === 'open' ? 'KUMO_OPEN_FAILED' : 'aborted')
    expect(ended.ms).toBeLessThan(4000)
  })
})

describe('without an abort', () => {
  it('a listener of end that never returns holds a run for half a minute, and is warned of', async () => {
    const clock = virtualClock()
    const warnings: string[] = []
    const note = ({ message }: Error) => void warnings.push(message)
    process.on('warning', note)
    onTestFinished(() => void process.off('warning', note))
    const crawler = quick.clock(clock).on('end', never)
    const start = clock.now()
    expect(await clock.run(crawler.run())).toMatchObject({ reason: 'done' })
    expect(clock.now() - start).toBeLessThan(40_000)
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual(['an end listener did not finish within 30000 ms.'])
  })
})

describe('leaving', () => {
  const hosts = Array.from({ length: 10 }, (_, i) => `http://h${i}.example/`)
  const many = new Crawler()
    .seeds(hosts)
    .robots(false)
    .fetcher(async () => page('end'))

  it('keeps pages that were not read pending, and does not count them', async () => {
    let read = 0
    const run = many.start()
    for await (const _ of run) {
      read++
      // Time for the other nine to be fetched and to wait for this reader.
      await new Promise((resolve) => setTimeout(resolve, 50))
      break
    }
    expect(read).toBe(1)
    expect(run.stats()).toMatchObject({ pages: 1, pending: 9, inFlight: 0, reason: 'aborted' })
  })

  it('at the time limit delivers exactly what the summary counts', async () => {
    const run = many.limit({ time: 250 }).start()
    let read = 0
    for await (const _ of run) {
      read++
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(run.stats()).toMatchObject({ pages: read, inFlight: 0, pending: 10 - read, reason: 'limit' })
    expect(read).toBeLessThan(10)
  })

  it('does not wait for a page that is being waited for', async () => {
    const slow = quick.fetcher(never)
    const stream = Readable.from(slow)
    stream.on('data', () => {})
    await new Promise((resolve) => setTimeout(resolve, 50))
    const closed = new Promise((resolve) => stream.once('close', resolve))
    stream.destroy()
    await closed
    const again = quick[Symbol.asyncIterator]()
    expect((await again.next()).value).toMatchObject({ url: SEED })
    await again.return()
  })
})

describe('seeds and stop', () => {
  it('follows links between the sites of all seeds, however late their turn comes', async () => {
    const seeds = Array.from({ length: 3000 }, (_, i) => `http://site${i}.example/`)
    const summary = await new Crawler()
      .seeds(seeds)
      .robots(false)
      .fetcher(async ({ url }) =>
        page(url === seeds[0] ? '<a href="http://site2999.example/deep">deep</a>' : ''),
      )
      .run()
    expect(summary).toMatchObject({ pages: 3001, skips: {} })
  })

  it('has taken seeds in wholly before the store is closed', async () => {
    const log: string[] = []
    const store: Store = {
      name: 'slow',
      async open(context) {
        const { frontier, seen, close } = await memory().open(context)
        const slowSeen = new Proxy(seen, {
          get: (target, name) =>
            name !== 'addAll'
              ? bound(target, name)
              : async (urls: string[]) => {
                  run.stop()
                  await new Promise((resolve) => setTimeout(resolve, 100))
                  log.push('seen')
                  return seen.addAll(urls)
                },
        })
        const loggedFrontier = new Proxy(frontier, {
          get: (target, name) => {
            if (name === 'add') log.push('added')
            return bound(target, name)
          },
        })
        return {
          frontier: loggedFrontier,
          seen: slowSeen,
          close() {
            log.push('closed')
            return close()
          },
        }
      },
    }
    const run = quick.store(store).start()
    await run.done
    expect(log).toEqual(['seen', 'added', 'closed'])
  })
})

describe('a fetcher of one’s own', () => {
  it('may hand on the Headers of the web, which answer with null', async () => {
    const { pages, failures } = await new Crawler()
      .seeds(SEED)
      .robots(false)
      .fetcher(async ({ url }) => {
        const headers = new Headers() as unknown as FetchedResponse['headers']
        return url === SEED
          ? { ...page('<a href="/moved">moved</a>'), headers }
          : { ...page(''), status: 302, headers }
      })
      .delay(0)
      .run()
    expect(pages).toBe(1)
    expect(failures).toEqual({ 'bad-redirect': 1 })
  })

  it('that answers at once does not keep the time limit from coming', async () => {
    let n = 0
    const summary = await new Crawler()
      .seeds(SEED)
      .robots(false)
      .delay(0)
      .limit({ time: 300, pages: 2_000_000 })
      .fetcher(() => page(`<a href="/${++n}">next</a>`))
      .run()
    expect(summary.reason).toBe('limit')
    // It was the limit of time.
    expect(summary.pages).toBeLessThan(2_000_000)
  })
})

describe('failures of the scope', () => {
  it('have been told to every hook before hooks are closed', async () => {
    let open = 0
    let openAtClose = -1
    await quick
      .fetcher(async ({ url }) => page(url === SEED ? '<a href="/1">1</a><a href="/2">2</a>' : ''))
      .scope(() => {
        throw new Error('undecided')
      })
      .use({
        name: 'slow',
        async failure() {
          open++
          await new Promise((resolve) => setTimeout(resolve, 30))
          open--
        },
        close() {
          openAtClose = open
        },
      })
      .run()
    expect(openAtClose).toBe(0)
  })
})
