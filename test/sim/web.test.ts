import { describe, expect, it } from 'vitest'
import type { CrawlRequest } from '../../src/index.js'
import { simulatedWeb, type VirtualClock, virtualClock } from '../../src/sim/index.js'
import type { WebShape } from '../../src/sim/web-map.js'
import { canonicalizeUrl, hostOf } from '../../src/url/canonicalize.js'

const RICH: Omit<WebShape, 'seed'> = {
  hosts: 12,
  pagesPerHost: 8,
  crossHostShare: 0.5,
  failures: { timeout: 0.1, reset: 0.1, status503: 0.1, never: 0.1 },
  redirects: 0.3,
  missing: 0.1,
  robots: 0.4,
  brokenRobots: 0.2,
  slowHosts: 0.3,
  twoSchemes: 0.4,
}

function request(url: string, attempt = 0): CrawlRequest {
  return { url, host: hostOf(url), depth: 0, priority: 0, attempt, redirects: 0, parent: undefined }
}

class Context {
  onAbort: (() => void) | undefined = undefined
  aborted = false
  signal = new AbortController().signal
  wants = () => true
}

/** Fetches and, where no answer comes, aborts after a minute. */
async function ask(web: ReturnType<typeof simulatedWeb>, clock: VirtualClock, url: string, attempt = 0) {
  const context = new Context()
  const timer = clock.wakeAt(clock.now() + 60_000, () => context.onAbort?.())
  const outcome = await clock.run(web.fetch(request(url, attempt), context))
  timer.cancel()
  return outcome
}

describe('simulatedWeb', () => {
  it('answers the same for the same seed, in whatever order', async () => {
    const answers = async (seed: number, backwards: boolean) => {
      const clock = virtualClock()
      const web = simulatedWeb({ ...RICH, seed, clock })
      const urls = [...web.expected(), ...web.seeds.map((url) => new URL('/robots.txt', url).href)].sort()
      if (backwards) urls.reverse()
      const found = new Map<string, unknown>()
      for (const url of urls) {
        const outcome = await ask(web, clock, url)
        const { startedAt, endedAt } = web.log.at(-1)!
        const text = outcome.ok ? `${outcome.status} ${new TextDecoder().decode(outcome.body)}` : outcome.code
        found.set(url, `${text} ${(endedAt - startedAt).toFixed(2)}`)
      }
      return [...found].sort(([a], [b]) => (a < b ? -1 : 1))
    }
    const once = await answers(3, false)
    expect(await answers(3, true)).toEqual(once)
    expect(await answers(4, false)).not.toEqual(once)
  })

  it('heals by the third try', async () => {
    const clock = virtualClock()
    const web = simulatedWeb({ ...RICH, seed: 8, failures: { timeout: 0.5, never: 0.5 }, clock })
    for (const url of web.expected()) {
      expect((await ask(web, clock, url)).ok).toBe(false)
      expect((await ask(web, clock, url, 2)).ok).toBe(true)
    }
  })

  it('expects nothing of URLs that need more tries than there are', () => {
    const clock = virtualClock()
    const web = simulatedWeb({ ...RICH, seed: 8, failures: { timeout: 0.5, never: 0.5 }, clock })
    expect(web.expected({ retries: 0 }).size).toBe(0)
    expect(web.expected({ retries: 2 }).size).toBeGreaterThan(web.expected({ retries: 1 }).size)
  })

  it('expects canonical URLs, and with robots.txt only open ones', () => {
    const web = simulatedWeb({ ...RICH, seed: 2, clock: virtualClock() })
    const open = web.expected()
    const all = web.expected({ robots: false })
    expect(open.size).toBeGreaterThan(10)
    expect(all.size).toBeGreaterThan(open.size)
    for (const url of all) expect(canonicalizeUrl(url)).toBe(url)
    for (const url of open) expect(web.allows(url), url).toBe(true)
  })

  it('logs start and end in virtual time, and lets go when aborted', async () => {
    const clock = virtualClock(0)
    const web = simulatedWeb({ seed: 1, hosts: 1, latencyMs: [100, 100], clock })
    await ask(web, clock, web.seeds[0]!)
    const context = new Context()
    const cut = web.fetch(request(web.seeds[0]!), context)
    expect(web.log[1]).toMatchObject({
      startedAt: 100,
      endedAt: Number.POSITIVE_INFINITY,
      result: 'pending',
    })
    await clock.advance(30)
    context.onAbort!()
    expect(await cut).toMatchObject({ ok: false, code: 'aborted' })
    expect(web.log).toMatchObject([
      { startedAt: 0, endedAt: 100, result: 'final', attempt: 0 },
      { startedAt: 100, endedAt: 130, result: 'aborted' },
    ])
    expect(clock.timers).toBe(0)
  })
})
