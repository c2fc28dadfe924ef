/** Proves an `Extractor`. */

import assert from 'node:assert/strict'
import type { Extraction, Extractor, Page } from '../extract/contract.js'
import type { Link } from '../types.js'
import { casesOf, type SuiteOptions } from './suite.js'
import { copyOf, viewOf } from './view.js'

/** Options of the extractor's suite. */
export interface ExtractorSuiteOptions extends SuiteOptions<Extractor> {
  /**
   * Pages of the media types that the extractor handles, as varied as possible. Each call must create new, equal pages.
   * See `pageOf`.
   */
  pages: () => Page[]
}

/** `text/html`, `image/*`, `application/rss+xml`, or everything. */
const MEDIA_TYPE = /^(?:\*\/\*|[a-z0-9!#$&^_.+-]+\/(?:\*|[a-z0-9!#$&^_.+-]+))$/

/**
 * Registers the cases that every extractor must pass.
 *
 * @example
 * import { it } from 'node:test'
 * import { extractorSuite, pageOf } from 'kumo/conformance'
 *
 * const pages = () => [pageOf({ url: 'https://example.com/', body: '<h1>Hello</h1>' })]
 * extractorSuite({ it, create: () => myExtractor(), pages })
 */
export function extractorSuite(options: ExtractorSuiteOptions): void {
  const { pages } = options
  const check = casesOf(options)

  check('it has a name', (extractor) => {
    assert.equal(typeof extractor.name, 'string')
    assert.notEqual(extractor.name.trim(), '')
  })

  check('its media types are valid', (extractor) => {
    const { mediaTypes } = extractor
    if (mediaTypes === undefined) return
    assert.ok(mediaTypes.length > 0, 'an extractor without media types never receives a page')
    for (const type of mediaTypes)
      assert.match(type, MEDIA_TYPE, 'a media type is in lower case and has no parameters')
  })

  check('it returns links and data, or nothing', async (extractor) => {
    await extractor.open?.()
    const given = pages()
    assert.ok(given.length > 0, 'the suite needs at least one page')
    for (const page of given) assertShape(await extractor.extract(page), page.url)
    await extractor.close?.()
  })

  check('it does not change the page', async (extractor) => {
    await extractor.open?.()
    const untouched = pages()
    for (const [i, page] of pages().entries()) {
      plain(await extractor.extract(page))
      assert.deepEqual(viewOf(page), viewOf(untouched[i]!), `${page.url} was changed`)
    }
    await extractor.close?.()
  })

  check('it returns the same result for the same page', async (extractor) => {
    await extractor.open?.()
    const twins = pages()
    for (const [i, page] of pages().entries()) {
      const first = plain(await extractor.extract(page))
      assert.deepEqual(plain(await extractor.extract(page)), first, `${page.url}, asked twice`)
      assert.deepEqual(plain(await extractor.extract(twins[i]!)), first, `${page.url}, fetched again`)
    }
    await extractor.close?.()
  })

  check('it keeps concurrent pages apart', async (extractor) => {
    await extractor.open?.()
    const alone: unknown[] = []
    for (const page of pages()) alone.push(plain(await extractor.extract(page)))
    const together = [...pages(), ...pages().reverse()].map(async (page) =>
      plain(await extractor.extract(page)),
    )
    assert.deepEqual(await Promise.all(together), [...alone, ...alone.toReversed()])
    await extractor.close?.()
  })

  check('a result does not change later', async (extractor) => {
    await extractor.open?.()
    const answers: Answer[] = []
    for (const page of pages()) answers.push(await extractor.extract(page))
    const data = answers.map((answer) => (answer ? answer.data : undefined))
    const before = copyOf(data)
    for (const page of pages().reverse()) plain(await extractor.extract(page))
    assert.deepEqual(data, before)
    await extractor.close?.()
  })

  check('it handles a crawl without pages', async (extractor) => {
    await extractor.open?.()
    await extractor.close?.()
  })

  check('closing twice is allowed', async (extractor) => {
    await extractor.open?.()
    for (const page of pages()) plain(await extractor.extract(page))
    await extractor.close?.()
    await extractor.close?.()
  })
}

type Answer = Extraction | undefined | void

function assertShape(answer: Answer, url: string): void {
  if (answer === undefined) return
  assert.ok(isObject(answer), `the result for ${url} is neither an object nor undefined`)
  const { links, data } = answer
  if (data !== undefined) assert.ok(isObject(data), `the data of ${url} is not an object`)
  if (links === undefined) return
  assert.ok(
    typeof links !== 'string',
    `the links of ${url} are a string, which would be iterated by character`,
  )
  assert.equal(typeof links[Symbol.iterator], 'function', `the links of ${url} are not iterable`)
  for (const link of links) {
    if (typeof link === 'string') continue
    assert.ok(isObject(link), `a link of ${url} is neither a string nor an object`)
    assertLink(link, url)
  }
}

function assertLink({ href, tag, rel, priority }: Link, url: string): void {
  assert.equal(typeof href, 'string', `the href of a link of ${url}`)
  assert.equal(typeof tag, 'string', `the tag of a link of ${url}`)
  if (rel !== undefined) assert.equal(typeof rel, 'string', `the rel of a link of ${url}`)
  if (priority !== undefined) assert.ok(Number.isFinite(priority), `the priority of a link of ${url}`)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The result in a comparable form: links may come from a generator, which can be read only once. */
function plain(answer: Answer): unknown {
  if (!answer) return undefined
  return { links: [...(answer.links ?? [])], data: copyOf(answer.data) }
}
