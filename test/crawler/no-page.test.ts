/** A run without a page says why, once, if nobody listens to failures and skips. */

import type { Crawler } from 'kumo'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startSite } from '../loopback/site.js'
import { linksTo, quick, site, WORKERS } from './support.js'

const warnings: Error[] = []
const collect = (warning: Error) => {
  if (warning.name === 'KumoWarning') warnings.push(warning)
}

beforeEach(() => {
  warnings.length = 0
  process.on('warning', collect)
})
afterEach(() => {
  process.off('warning', collect)
})

async function warned(crawler: Crawler, signal?: AbortSignal): Promise<string[]> {
  await crawler.run({ signal })
  // Node emits warnings a turn later.
  await new Promise((resolve) => setImmediate(resolve))
  return warnings.map(({ message }) => message)
}

describe('a run without a page', () => {
  it('names robots.txt, and the option that turns it off', async () => {
    const { url } = await site({ '/robots.txt': 'User-agent: *\nDisallow: /', '/': 'a' })
    const messages = await warned(quick.seeds(url('/private')))
    expect(messages).toHaveLength(1)
    expect(messages[0]).toContain(`${url('/private')} was skipped (robots)`)
    expect(messages[0]).toContain('robots.txt')
    expect(messages[0]).toContain('.robots(false)')
  })

  it('names each seed that failed, and what to do', async () => {
    const { url } = await site({ '/': 'a' })
    const gone = await startSite({})
    await gone.close()
    const seeds = [url('/missing'), gone.url('/'), 'mailto:nobody']
    const messages = await warned(
      quick.retries(0).seeds(
        (async function* () {
          yield* seeds
        })(),
      ),
    )
    expect(messages).toHaveLength(1)
    expect(messages[0]).toMatch(/^The crawl ended without a page:\n/)
    expect(messages[0]).toMatch(/\/missing failed \(http-status\): .* status 404\. Check the URL/)
    expect(messages[0]).toMatch(/ failed \(connect-failed\): .*\. Check host, port and network\./)
    expect(messages[0]).toContain('mailto:nobody')
    expect(messages[0]).toContain("Listen to 'failure' and 'skip'")
  })

  it('names the target of a redirect that leaves the scope', async () => {
    const { url } = await site({ '/': { status: 302, headers: { location: 'http://elsewhere.example/a' } } })
    expect(await warned(quick.seeds(url('/')))).toEqual([
      expect.stringMatching(/http:\/\/elsewhere\.example\/a was skipped \(scope\): .*\.scope\(\)/),
    ])
  })

  it('names a few of many, and counts the others', async () => {
    const { url } = await site({})
    const seeds = Array.from({ length: 9 }, (_, i) => url(`/${i}`))
    const [message = ''] = await warned(quick.seeds(seeds))
    expect(message.match(/failed \(http-status\)/g)).toHaveLength(5)
    expect(message).toContain('and 4 more URLs')
  })

  it('says nothing to a program that listens', async () => {
    const { url } = await site({ '/robots.txt': 'User-agent: *\nDisallow: /no' })
    const heard = quick.seeds(url('/missing')).on('failure', () => {})
    expect(await warned(heard)).toEqual([])
    expect(await warned(quick.seeds(url('/no')).on('skip', () => {}))).toEqual([])
    expect(await warned(quick.seeds(url('/missing')).use({ name: 'h', failure: () => {} }))).toEqual([])
  })

  it('says nothing if a page came, or if the run was aborted', async () => {
    const { url } = await site({ '/': linksTo('/missing'), '/slow': () => {} })
    expect(await warned(quick.seeds(url('/'), url('/missing')))).toEqual([])
    const controller = new AbortController()
    const aborted = warned(quick.seeds(url('/missing'), url('/slow')), controller.signal)
    setTimeout(() => controller.abort(), WORKERS === 0 ? 300 : 2000)
    expect(await aborted).toEqual([])
  })
})
