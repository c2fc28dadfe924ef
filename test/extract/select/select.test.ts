/** `select()`: fields by selector, checked by schemas of the three libraries that follow Standard Schema. */

import { type } from 'arktype'
import { type Failure, KumoError, select } from 'kumo'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { crawl, direct, site } from '../../crawler/support.js'

const PRODUCT = `<!doctype html><base href="/shop/"><title>Shop</title>
  <h1> A  <b>lamp</b>
  </h1><p class="price">12.50</p>
  <ul><li class="tag">red<li class="tag">small<li></ul>
  <a class="more" href="../more?a=1">more</a> <a class="mail" href="mailto:me@example.com">write</a>
  <img src="lamp.png"> <div class="text"><p>One</p></div>
  <div class="offer" id="x"><span class="shop">A</span><i>3</i></div>
  <div class="offer"><span class="shop">B</span><i>4</i></div>`

async function dataOf(fields: Parameters<typeof select>[0]): Promise<unknown> {
  const { url } = await site({ '/': PRODUCT })
  const { pages, failures } = await crawl(direct.depth(0).extract(select(fields)).seeds(url()))
  expect(failures).toEqual([])
  return JSON.parse(JSON.stringify(pages[0]!.data).replaceAll(url(''), ''))
}

async function failureOf(fields: Parameters<typeof select>[0]): Promise<Failure> {
  const { url } = await site({ '/': PRODUCT, '/shop/a': '' })
  const { pages, failures } = await crawl(direct.depth(0).extract(select(fields)).seeds(url()))
  expect(pages.length).toBe(0)
  expect(failures).toHaveLength(1)
  expect(failures[0]).toMatchObject({ url: url(), final: true, attempt: 0 })
  return failures[0]!
}

describe('select()', () => {
  test('reads texts, attributes, HTML, lists and what is nested', async () => {
    const data = await dataOf({
      title: 'h1',
      tags: ['.tag'],
      more: { css: '.more', attr: 'href' },
      mail: { css: '.mail', attr: 'href' },
      image: { css: 'img', attr: 'src' },
      ids: { css: '.offer', all: true, attr: 'id' },
      text: { css: '.text', html: true },
      none: { css: '.none', optional: true },
      nothing: { css: '.none', all: true },
      offers: {
        css: '.offer',
        all: true,
        fields: {
          shop: '.shop',
          id: { attr: 'id', optional: true },
          price: { css: 'i', as: z.coerce.number() },
        },
      },
    })
    expect(data).toEqual({
      title: 'A lamp',
      tags: ['red', 'small'],
      more: expect.stringMatching(/\/more\?a=1$/),
      mail: 'mailto:me@example.com',
      image: expect.stringMatching(/\/shop\/lamp\.png$/),
      ids: ['x'],
      text: '<p>One</p>',
      nothing: [],
      offers: [
        { shop: 'A', id: 'x', price: 3 },
        { shop: 'B', price: 4 },
      ],
    })
  })

  test.each([
    ['zod', z.coerce.number(), z.coerce.number().max(9)],
    [
      'valibot',
      v.pipe(v.string(), v.transform(Number), v.number()),
      v.pipe(v.string(), v.transform(Number), v.maxValue(9)),
    ],
    ['arktype', type('string.numeric.parse'), type('string.numeric.parse').to('number < 10')],
  ])('converts and checks with %s', async (_, number, small) => {
    expect(await dataOf({ price: { css: '.price', as: number } })).toEqual({ price: 12.5 })
    const failure = await failureOf({ title: 'h1', price: { css: '.price', as: small } })
    expect(failure).toMatchObject({ code: 'invalid-data', message: expect.stringMatching(/^price: /) })
  })

  test('waits for asynchronous schemas', async () => {
    const later = z.string().refine(async (text) => text !== 'B', { error: 'no B' })
    const shops = { css: '.offer', all: true, fields: { shop: { css: '.shop', as: later } } }
    expect(await dataOf({ first: { css: '.shop', as: later } })).toEqual({ first: 'A' })
    expect(await failureOf({ shops })).toMatchObject({
      code: 'invalid-data',
      message: 'shops.1.shop: no B',
      cause: { issues: [{ path: 'shops.1.shop', message: 'no B' }] },
    })
  })

  test('lets a schema decide about what is missing', async () => {
    const price = (as: z.ZodType) => ({ price: { css: '.none', as } })
    expect(await dataOf(price(z.string().default('free')))).toEqual({ price: 'free' })
    expect(await dataOf(price(z.string().optional()))).toEqual({})
    expect((await failureOf(price(z.string()))).message).toMatch(/^price: /)
  })

  test('names every field that a page lacks', async () => {
    const failure = await failureOf({
      a: '.none',
      b: { css: 'h1', attr: 'id' },
      c: { css: 'ul', fields: { d: 'em' } },
    })
    expect(failure).toMatchObject({
      code: 'invalid-data',
      message:
        "a: no element matches '.none'; b: the element has no attribute 'id'; c.d: no element matches 'em'",
    })
  })

  test('a schema that throws fails the page, and the crawl goes on', async () => {
    const throws = (error: () => never) => ({
      '~standard': { version: 1 as const, vendor: 'own', validate: error },
    })
    const boom = throws(() => {
      throw new Error('boom')
    })
    expect(await failureOf({ a: { css: 'h1', as: boom } })).toMatchObject({
      code: 'extract-failed',
      message: "extractor 'select a' threw: the schema of 'a' threw: boom",
    })
    const late = throws((() => Promise.reject(new Error('late'))) as never)
    expect(await failureOf({ a: { css: 'h1', as: late }, b: { css: 'h1', as: boom } })).toMatchObject({
      code: 'extract-failed',
    })
  })

  test('follows the links of a page that fails, and delivers the others', async () => {
    const { url } = await site({ '/': '<a href="/b">b</a>', '/b': '<h1>b</h1>' })
    const { pages, failures, summary } = await crawl(direct.extract(select({ title: 'h1' })).seeds(url()))
    expect(failures.map(({ code }) => code)).toEqual(['invalid-data'])
    expect(pages.map(({ data }) => data)).toEqual([{ title: 'b' }])
    expect(summary.failures).toEqual({ 'invalid-data': 1 })
  })

  const bad: [string, unknown, RegExp][] = [
    ['no fields', {}, /^select: got \{\};/],
    ['a schema of the whole', z.object({}), /^select: got/],
    ['a broken selector', { a: 'h1[' }, /^select\.a: got 'h1\['; allowed: a CSS selector/],
    ['an unknown pseudo-class', { a: { css: 'h1:nope' } }, /^select\.a\.css: got 'h1:nope';/],
    ['an empty selector', { a: '' }, /^select\.a: got '';/],
    ['a schema alone', { a: z.string() }, /^select\.a: got a schema; allowed: .*as: schema/],
    ['another schema', { a: { css: 'h1', as: Number } }, /^select\.a\.as: got a function;.*Standard Schema/],
    ['an unknown key', { a: { selector: 'h1' } }, /^select\.a: got 'selector'; allowed: the keys css/],
    ['two kinds', { a: { css: 'a', attr: 'href', html: true } }, /^select\.a: got more than one of/],
    ['a long list', { a: ['h1', 'h2'] }, /^select\.a: got .*a list of one/],
    ['a nested mistake', { a: { css: 'a', fields: { b: 5 } } }, /^select\.a\.fields\.b: got 5;/],
  ]
  test.each(bad)('refuses %s', (_, fields, message) => {
    const make = () => select(fields as never)
    expect(make).toThrow(KumoError)
    expect(make).toThrow(message)
  })
})

describe('select() with workers', () => {
  test('says what is wrong from another thread', async () => {
    const { url } = await site({ '/': PRODUCT })
    const crawler = direct.workers(1).depth(0).seeds(url())
    const here = await crawl(crawler.extract(select({ a: '.none' })))
    expect(here.failures).toMatchObject([
      { code: 'invalid-data', message: "a: no element matches '.none'", cause: { issues: [{ path: 'a' }] } },
    ])
    // As another copy of Kumo, loaded by a module, would throw it.
    const module = `export default { name: 'm', extract() {
      throw Object.assign(new Error('a: none'), { code: 'invalid-data', issues: [{ path: 'a', message: 'none' }] })
    } }`
    const there = await crawl(crawler.extract(new URL(`data:text/javascript,${encodeURIComponent(module)}`)))
    expect(there.failures).toMatchObject([
      { code: 'invalid-data', message: 'a: none', cause: { issues: [{ path: 'a', message: 'none' }] } },
    ])
  })
})
