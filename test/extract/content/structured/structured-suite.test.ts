/** The samples of extruct: what its readers expect must be among what a page says. */

import { expect, it } from 'vitest'
import { pageOf } from '../../../../src/conformance/page.js'
import type {
  StructuredData,
  StructuredItem,
  StructuredValue,
} from '../../../../src/extract/content/structured/contract.js'
import { shortName } from '../../../../src/extract/content/structured/names.js'
import { filesIn, hasShared } from '../archive.js'

const SAMPLES = 'suites/content/extruct-samples.tar.gz'
const URL_OF_PAGE = 'http://www.example.com/index.html'

/** What we leave out or read otherwise, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'misc/Portfolio_Niels_Lubberman.json':
    'link rel=icon and rel=alternate are not data about a thing (feeds are in page.meta), and markup is read as its text',
  'misc/dublincore_test.json': 'Dublin Core in meta elements is read for page.meta only',
  'misc/microformat_test.json': 'microformats are not read',
  'schema.org/SearchAction.001.json':
    'the field of a form is read in the short form of schema.org: required name=…',
  'schema.org/product-ref.json':
    'by the HTML Standard, itemref to an item that is no property adds nothing; the two items are read on their own',
  'songkick/elysianfields_1.json': 'test1:image and test2:image are not OpenGraph; they are read as RDFa',
}
/** Pages whose URL matters. */
const URLS: Readonly<Record<string, string>> = {
  'misc/Portfolio_Niels_Lubberman.json': 'http://nielslubberman.nl/drupal/',
  'songkick/elysianfields.json': 'http://www.songkick.com/artists/236156-elysian-fields',
  'songkick/elysianfields_1.json': 'http://www.songkick.com/artists/236156-elysian-fields',
  'w3c/microdata.7.1.json': 'http://blog.example.com/progress-report',
  'w3c/microdata.object.json': 'http://www.example.com/microdata/test',
  'songkick/tovestyrke.json':
    'https://www.songkick.com/concerts/30166884-tove-styrke-at-hoxton-square-bar-and-kitchen',
}

type Json = string | number | boolean | null | Json[] | { [name: string]: Json }
type JsonObject = { [name: string]: Json }

const list = (value: Json | undefined): Json[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value]
const collapsed = (text: string): string => text.replace(/\s+/g, ' ').trim()
const absolute = (url: string): string =>
  URL.canParse(url, URL_OF_PAGE) ? new URL(url, URL_OF_PAGE).href : url

function sameText(expected: string, found: string): boolean {
  if (collapsed(expected) === collapsed(found)) return true
  return absolute(expected) === found || shortName(expected) === found
}

/** Whether a value is what an expected value of microdata describes. */
function isValue(expected: Json, found: StructuredValue): boolean {
  if (typeof expected === 'string') {
    if (typeof found !== 'object') return sameText(expected, String(found))
    return found.id !== undefined && sameText(expected, found.id)
  }
  return typeof found === 'object' && isItem(expected as JsonObject, found)
}

function isItem(expected: JsonObject, found: StructuredItem): boolean {
  const types = list(expected.type).flatMap((type) => String(type).split(' '))
  if (!types.every((type) => found.types.includes(shortName(type)))) return false
  if (expected.id !== undefined && !sameText(String(expected.id), found.id ?? '')) return false
  return Object.entries((expected.properties ?? {}) as JsonObject).every(([name, values]) =>
    list(values).every((value) =>
      (found.properties[shortName(name)] ?? []).some((each) => isValue(value, each)),
    ),
  )
}

/** Every item of a page, those within others too. */
function* allItems(items: readonly StructuredItem[]): Generator<StructuredItem> {
  for (const item of items) {
    yield item
    for (const values of Object.values(item.properties)) {
      yield* allItems(values!.filter((value) => typeof value === 'object'))
    }
  }
}

/** Expanded JSON-LD of RDFa: nodes with full names. */
function missingRdfa(expected: JsonObject[], data: StructuredData): string[] {
  const items = [...allItems(data.items)].filter(({ syntax }) => syntax === 'rdfa')
  const missing: string[] = []
  const text = (value: Json): string =>
    String((value as JsonObject)['@value'] ?? (value as JsonObject)['@id'])
  for (const node of expected) {
    const id = String(node['@id'])
    const isBlank = id.startsWith('_:')
    for (const [name, values] of Object.entries(node)) {
      if (name === '@id') continue
      for (const value of list(values)) {
        const isThere = items.some((item) => {
          if (!isBlank && item.id !== id) return false
          if (name === '@type') return item.types.includes(shortName(String(value)))
          const wanted = text(value)
          if (wanted.startsWith('_:')) return (item.properties[shortName(name)] ?? []).length > 0
          return (item.properties[shortName(name)] ?? []).some((each) => isValue(wanted, each))
        })
        // OpenGraph is not told a second time as RDFa.
        const isOpenGraph = Object.entries(data.openGraph).some(
          ([own, all]) => name.endsWith(own.slice(own.indexOf(':') + 1)) && all!.includes(text(value)),
        )
        if (name.endsWith('usesVocabulary') || isOpenGraph) continue
        if (!isThere) missing.push(`rdfa ${id} ${name} ${JSON.stringify(value).slice(0, 80)}`)
      }
    }
  }
  return missing
}

function missingMicrodata(expected: JsonObject[], data: StructuredData): string[] {
  const items = [...allItems(data.items)].filter(({ syntax }) => syntax === 'microdata')
  const missing = expected.filter((item) => !items.some((each) => isItem(item, each)))
  return missing.map((item) => `microdata ${JSON.stringify(item).slice(0, 120)}`)
}

function missingJsonLd(expected: Json[], data: StructuredData): string[] {
  const found = new Set(data.jsonLd.flat().map((value) => JSON.stringify(sorted(value as Json))))
  const wanted = expected.flatMap((value) => list((value as JsonObject).items ?? value).flat())
  return wanted
    .filter((value) => !found.has(JSON.stringify(sorted(value))))
    .map((value) => `json-ld ${JSON.stringify(value).slice(0, 120)}`)
}

/** The same value with the names of its objects in order. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([name, each]) => [name, sorted(each)]),
  )
}

function missingOpenGraph(expected: JsonObject[], data: StructuredData): string[] {
  const pairs = expected.flatMap(({ properties }) => properties as [string, string][])
  const all = { ...data.openGraph, ...data.twitter }
  return pairs
    .filter(([name, value]) => !all[name]?.includes(value.trim()))
    .map((pair) => `opengraph ${pair}`)
}

/** What an expectation of a sample asks for and the page does not say. */
function missing(name: string, expected: Json, data: StructuredData): string[] {
  if (name.endsWith('.jsonld')) return missingJsonLd(list(expected), data)
  if (name.endsWith('.expanded.json')) return missingRdfa(expected as JsonObject[], data)
  if (!Array.isArray(expected)) {
    const whole = expected as { [syntax: string]: JsonObject[] }
    return [
      ...missingMicrodata(whole.microdata ?? [], data),
      ...missingJsonLd(whole['json-ld'] ?? [], data),
      ...missingOpenGraph(whole.opengraph ?? [], data),
      ...missingRdfa(whole.rdfa ?? [], data),
    ]
  }
  const first = (expected[0] ?? {}) as JsonObject
  if (first['@id'] !== undefined) return missingRdfa(expected as JsonObject[], data)
  if (first.namespace !== undefined) return missingOpenGraph(expected as JsonObject[], data)
  return missingMicrodata(expected as JsonObject[], data)
}

it.skipIf(!hasShared(SAMPLES))('reads what the samples of extruct expect', () => {
  const files = filesIn(SAMPLES)
  const differences: Record<string, string[]> = {}
  let compared = 0
  for (const [path, content] of files) {
    if (!/\.json(?:ld)?$/.test(path)) continue
    const html = files.get(path.replace(/(?:\.expanded)?\.json(?:ld)?$/, '.html'))
    if (html === undefined) continue
    compared++
    const name = path.replace('tests/samples/', '')
    const { structured } = pageOf({ url: URLS[name] ?? URL_OF_PAGE, body: html })
    const found = missing(path, JSON.parse(content.toString()) as Json, structured)
    if (found.length > 0) differences[name] = found
  }
  expect(compared).toBeGreaterThan(50)
  expect(Object.keys(differences).sort()).toEqual(Object.keys(EXCEPTIONS).sort())
})
