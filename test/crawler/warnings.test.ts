import { Crawler } from 'kumo'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startSite } from '../loopback/site.js'

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

async function warned(change: (crawler: Crawler) => Crawler): Promise<string[]> {
  const site = await startSite({ '/': '<a href="/b">b</a>', '/b': 'b' })
  const base = new Crawler().seeds(site.url('/')).delay('1ms')
  await change(base).run()
  await site.close()
  // Node tells warnings a turn later.
  await new Promise((resolve) => setImmediate(resolve))
  return warnings.map(({ message }) => message)
}

const oops = () => {
  throw new Error('oops')
}

describe('a mistake in user code that nobody would hear of', () => {
  it.each<[string, (crawler: Crawler) => Crawler]>([
    ['a page listener', (crawler) => crawler.on('page', oops)],
    ['an asynchronous page listener', (crawler) => crawler.on('page', async () => oops())],
    ['an extractor', (crawler) => crawler.extract({ x: oops })],
    ['a failure listener', (crawler) => crawler.extract({ x: oops }).on('failure', oops)],
    ['an end listener', (crawler) => crawler.on('end', oops)],
  ])('is warned of once: %s', async (_, change) => {
    const messages = await warned(change)
    expect(messages).toHaveLength(1)
    expect(messages[0]).toContain('oops')
  })

  it.each<[string, (crawler: Crawler) => Crawler, RegExp]>([
    ['an end listener', (crawler) => crawler.on('end', oops), /^an end listener threw: oops\.$/],
    [
      'a message that is a sentence',
      (crawler) =>
        crawler.on('page', () => {
          throw new Error('Nobody is there.')
        }),
      /: a page listener threw: Nobody is there\. Listen to 'failure' to see the failures of all pages\.$/,
    ],
    [
      'a message that asks',
      (crawler) =>
        crawler.extract({
          x() {
            throw new Error('what is this?')
          },
        }),
      / threw: what is this\? Listen to 'failure' to see the failures of all pages\.$/,
    ],
    [
      'a failure listener',
      (crawler) => crawler.extract({ x: oops }).on('failure', oops),
      /^a failure listener threw: oops\.$/,
    ],
  ])('is told in whole sentences: %s', async (_, change, text) => {
    expect(await warned(change)).toEqual([expect.stringMatching(text)])
  })

  it('is not warned of where somebody listens', async () => {
    expect(await warned((crawler) => crawler.on('page', oops).on('failure', () => {}))).toEqual([])
  })
})
