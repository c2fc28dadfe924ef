import { describe, expect, it } from 'vitest'
import { extractorSuite } from '../../src/conformance/extractor.js'
import { pageOf } from '../../src/conformance/page.js'
import type { Extraction } from '../../src/extract/contract.js'
import { fieldExtractor } from '../../src/extract/fields.js'

const page = () => pageOf({ url: 'https://example.com/', body: '<title>Tea</title><h1>Fine teas</h1>' })

describe('fieldExtractor', () => {
  extractorSuite({
    it,
    create: () =>
      fieldExtractor({
        title: ({ title }) => title,
        heading: async ({ document }) => document.querySelector('h1')?.textContent,
      }),
    pages: () => [page(), pageOf({ url: 'https://example.com/2', body: '<title>Coffee</title>' })],
  })

  it('names its fields', () => {
    expect(fieldExtractor({ title: () => '', price: () => 0 }).name).toBe('fields title, price')
  })

  it('answers at once if all functions do', () => {
    const answer = fieldExtractor({ title: ({ title }) => title, none: () => undefined }).extract(page())
    expect(answer).toEqual({ data: { title: 'Tea', none: undefined } })
  })

  it('waits for promises, all at the same time', async () => {
    let waiting = 0
    let most = 0
    const slow = async () => {
      most = Math.max(most, ++waiting)
      await Promise.resolve()
      waiting--
      return 'slow'
    }
    const answer = (await fieldExtractor({ a: slow, b: () => 'fast', c: slow }).extract(page())) as Extraction
    expect([answer.data, most]).toEqual([{ a: 'slow', b: 'fast', c: 'slow' }, 2])
  })

  it('fails as a whole if a function throws or rejects', async () => {
    const bad = () => {
      throw new Error('bad')
    }
    expect(() => fieldExtractor({ good: () => 1, bad }).extract(page())).toThrow('bad')
    await expect(fieldExtractor({ good: () => 1, bad: async () => bad() }).extract(page())).rejects.toThrow(
      'bad',
    )
  })

  it('leaves no rejection unheard when several fail', async () => {
    const unheard: unknown[] = []
    const listener = (reason: unknown) => void unheard.push(reason)
    process.on('unhandledRejection', listener)
    const late = async () => {
      await Promise.resolve()
      throw new Error('late')
    }
    const now = () => {
      throw new Error('now')
    }
    expect(() => fieldExtractor({ late, now }).extract(page())).toThrow('now')
    await expect(fieldExtractor({ late, later: late }).extract(page())).rejects.toThrow('late')
    await new Promise((resolve) => setTimeout(resolve, 20))
    process.off('unhandledRejection', listener)
    expect(unheard).toEqual([])
  })
})
