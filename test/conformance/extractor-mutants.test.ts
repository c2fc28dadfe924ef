import { describe, expect, it } from 'vitest'
import { extractorSuite } from '../../src/conformance/extractor.js'
import { pageOf } from '../../src/conformance/page.js'
import type { Extraction, Extractor, Page } from '../../src/extract/contract.js'
import { failuresOf } from './collect.js'

const pages = () =>
  ['One', 'Two', 'Three'].map((name) =>
    pageOf({
      url: `https://example.com/${name}`,
      body: `<title>${name}</title><h1>Page ${name}</h1><a href="/next">`,
    }),
  )

const mutant = (extract: Extractor['extract'], more: Partial<Extractor> = {}): (() => Extractor) => {
  return () => ({ name: 'mutant', extract, ...more })
}

/** An extractor that answers with what no type allows. */
const answering = (answer: unknown) => mutant(() => answer as Extraction)

/** Sound, asynchronous, with links from a generator. */
function headings(): Extractor {
  return {
    name: 'headings',
    mediaTypes: ['text/html', 'application/*'],
    async extract(page) {
      await Promise.resolve()
      const data = { heading: page.document.querySelector('h1')?.textContent }
      return { data, links: linksOf(page) }
    },
  }
}

function* linksOf(page: Page) {
  yield '/always'
  yield { href: `${page.title}/more`, tag: 'heading', rel: 'next', priority: 2 }
}

const MUTANTS: Record<string, () => Extractor> = {
  'has no name': () => ({ ...headings(), name: '' }),
  'wants no media type': mutant(() => undefined, { mediaTypes: [] }),
  'wants a media type with parameters': mutant(() => undefined, { mediaTypes: ['text/html; charset=utf-8'] }),
  'wants a word that is no media type': mutant(() => undefined, { mediaTypes: ['html'] }),
  'answers with a number': answering(7),
  'answers with null': answering(null),
  'answers with a list': answering([{ href: '/', tag: 'a' }]),
  'answers with data that is no object': answering({ data: 'title' }),
  'answers with data that is a list': answering({ data: ['title'] }),
  'answers with one link instead of a list': answering({ links: '/next' }),
  'answers with a link without a tag': answering({ links: [{ href: '/next' }] }),
  'answers with a link that is a URL object': answering({ links: [new URL('https://example.com/')] }),
  'answers with no link among links': answering({ links: ['/next', undefined] }),
  'answers with a priority that is no number': answering({
    links: [{ href: '/', tag: 'a', priority: Number.NaN }],
  }),
  'writes into the data of the page': mutant((page) => void Object.assign(page.data, { seen: true })),
  'removes elements from the DOM': mutant((page) => void page.document.querySelector('h1')?.remove()),
  'writes into the bytes': mutant((page) => void page.body.fill(0x20, 0, 5)),
  'counts its calls': () => {
    let calls = 0
    return { name: 'mutant', extract: () => ({ data: { calls: calls++ } }) }
  },
  'mixes up pages that it is given at once': () => {
    let current: Page | undefined
    return {
      name: 'mutant',
      async extract(page) {
        current = page
        await Promise.resolve()
        return { data: { title: current.title } }
      },
    }
  },
  'hands out one object for all answers': () => {
    const data: Record<string, string> = {}
    return {
      name: 'mutant',
      extract(page) {
        data.title = page.title
        return { data }
      },
    }
  },
  'cannot be closed before it had a page': () => {
    let last: Page | undefined
    return {
      name: 'mutant',
      extract(page) {
        last = page
      },
      close: () => void last!.url,
    }
  },
  'cannot be closed twice': () => {
    let cache: Map<string, string> | undefined
    return {
      name: 'mutant',
      open() {
        cache = new Map()
      },
      extract: () => undefined,
      close() {
        cache!.clear()
        cache = undefined
      },
    }
  },
}

describe('the suite of extractors', () => {
  it('passes a sound one, and one that finds nothing', async () => {
    expect(await failuresOf((it) => extractorSuite({ it, create: headings, pages }))).toEqual([])
    const create = mutant(() => undefined)
    expect(await failuresOf((it) => extractorSuite({ it, create, pages }))).toEqual([])
  })

  it.for(Object.entries(MUTANTS))('notices one that %s', async ([, create]) => {
    expect(await failuresOf((it) => extractorSuite({ it, create, pages }))).not.toEqual([])
  })
})
