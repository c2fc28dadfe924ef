/** How good the results are: known sections by their headings, Japanese nouns, copies of pages. */

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import kuromoji from 'kuromoji'
import { openIndex, openWriter, type SearchIndex } from '../src/search/index.js'
import { Sketcher, similarity } from '../src/search/segment/sketch.js'
import { normalized } from '../src/search/words/scanner.js'
import { seededRandom } from '../src/time.js'
import type { Figure } from './report.js'
import type { CorpusDocument } from './search-corpus.js'

async function indexOf(documents: readonly CorpusDocument[], path: string): Promise<SearchIndex> {
  const writer = await openWriter(path, { sync: false })
  for (const document of documents) await writer.put(document)
  await writer.compact()
  await writer.close()
  return openIndex(path)
}

/** Headings that occur once, as queries: is their section the first hit? */
export async function knownItems(documents: readonly CorpusDocument[], folder: string): Promise<Figure[]> {
  const counts = new Map<string, number>()
  const items: { query: string; url: string; anchor: string | undefined }[] = []
  for (const { url, sections } of documents) {
    for (const { heading = '', anchor, text } of sections) {
      counts.set(heading, (counts.get(heading) ?? 0) + 1)
      if (heading.length >= 8 && heading.length <= 80 && text.length > 50 && /[a-z]{3}/i.test(heading))
        items.push({ query: heading, url, anchor })
    }
  }
  const random = seededRandom(3)
  const once = items
    .filter(({ query }) => counts.get(query) === 1)
    .map((item) => ({ item, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .slice(0, 300)
    .map(({ item }) => item)
  const index = await indexOf(documents, join(folder, 'known'))
  let first = 0
  let five = 0
  let typos = 0
  for (const { query, url, anchor } of once) {
    const isRight = (hit: { url: string; anchor: string | undefined; duplicates: readonly string[] }) =>
      hit.url === url && hit.anchor === anchor
    const { hits } = await index.search(query, { limit: 5, groupBy: 'none' })
    if (hits[0] !== undefined && isRight(hits[0])) first++
    if (hits.some(isRight)) five++
    const misspelled = await index.search(withTypo(query, random.next()), { limit: 5, groupBy: 'none' })
    if (misspelled.hits.some(isRight)) typos++
  }
  await index.close()
  return [
    { what: 'known items', value: once.length, unit: '' },
    { what: 'known items: first', value: (100 * first) / once.length, unit: '%', bar: { atLeast: 80 } },
    {
      what: 'known items: in the first five',
      value: (100 * five) / once.length,
      unit: '%',
      bar: { atLeast: 95 },
    },
    {
      what: 'with a typo: in the first five',
      value: (100 * typos) / once.length,
      unit: '%',
      bar: { atLeast: 85 },
    },
  ]
}

/** A typo in the longest word: a letter replaced, left out or doubled, or two swapped. */
function withTypo(query: string, chance: number): string {
  const words = query.match(/[\p{L}\p{N}]+/gu) ?? []
  const longest = words.reduce((best, word) => (word.length > best.length ? word : best), '')
  const at = 1 + (Math.floor(chance * 1000) % Math.max(1, longest.length - 2))
  const kind = Math.floor(chance * 4)
  const wrong = [
    `${longest.slice(0, at)}x${longest.slice(at + 1)}`,
    longest.slice(0, at) + longest.slice(at + 1),
    longest.slice(0, at) + longest[at] + longest.slice(at),
    longest.slice(0, at) + longest[at + 1] + longest[at] + longest.slice(at + 2),
  ][kind]!
  return query.replace(longest, wrong)
}

/** Nouns of Japanese pages: all that contain them are found, and the first have them as words. */
export async function japanese(documents: readonly CorpusDocument[], folder: string): Promise<Figure[]> {
  const dicPath = join(dirname(createRequire(import.meta.url).resolve('kuromoji/package.json')), 'dict')
  const tokenizer = await new Promise<kuromoji.Tokenizer<kuromoji.IpadicFeatures>>((resolve, reject) => {
    kuromoji.builder({ dicPath }).build((error, built) => (error ? reject(error) : resolve(built)))
  })
  const records = documents.flatMap(({ url, sections }) =>
    sections.map(({ heading = '', text, anchor = '' }, at) => {
      const plain = normalized(`${heading}\n${text}`).toLowerCase()
      const words = new Set<string>()
      const nouns: string[] = []
      for (const { surface_form: word, pos } of tokenizer.tokenize(plain)) {
        words.add(word)
        if (pos === '名詞' && /^[\p{Script=Han}\p{Script=Katakana}ー]{2,}$/u.test(word)) nouns.push(word)
      }
      return { key: `${url}#${anchor}#${at}`, id: `${url}#${at}`, plain, words, nouns, heading, text, anchor }
    }),
  )
  const random = seededRandom(9)
  const shuffledNouns = (nouns: readonly string[]) =>
    nouns
      .map((noun) => ({ noun, at: random.next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ noun }) => noun)
  const nouns = records.flatMap((record) => record.nouns)
  // Different nouns, drawn from the running text: the more often one occurs, the sooner it is drawn.
  const queries = [...new Set(shuffledNouns(nouns))].slice(0, 400)
  const evenly = shuffledNouns([...new Set(nouns)]).slice(0, 400)
  const writer = await openWriter(join(folder, 'japanese'), { sync: false })
  for (const { id, heading, text } of records)
    await writer.put({ id, url: `https://ja.example/${id}`, language: 'ja', sections: [{ heading, text }] })
  await writer.close()
  const index = await openIndex(join(folder, 'japanese'))
  const byId = new Map(records.map((record) => [record.id, record]))
  const measure = async (asked: readonly string[]) => {
    const sums = { missed: 0, wanted: 0, right: 0, shown: 0, possible: 0 }
    for (const query of asked) {
      const truth = records.filter(({ plain }) => plain.includes(query))
      const { hits } = await index.search(query, {
        limit: 1000,
        groupBy: 'none',
        highlight: false,
        fuzzy: false,
      })
      const found = new Set(hits.map(({ id }) => id))
      sums.wanted += truth.length
      sums.missed += truth.filter(({ id }) => !found.has(id)).length
      sums.possible += Math.min(10, hits.filter(({ id }) => byId.get(id)!.words.has(query)).length)
      sums.shown += Math.min(10, hits.length)
      sums.right += hits.slice(0, 10).filter(({ id }) => byId.get(id)!.words.has(query)).length
    }
    return sums
  }
  const drawn = await measure(queries)
  const even = await measure(evenly)
  await index.close()
  return [
    { what: 'Japanese nouns, drawn from the running text', value: queries.length, unit: '' },
    {
      what: 'recall against substrings',
      value: (100 * (drawn.wanted - drawn.missed)) / drawn.wanted,
      unit: '%',
      bar: { atLeast: 100 },
    },
    {
      what: 'precision of the first ten against words',
      value: (100 * drawn.right) / drawn.shown,
      unit: '%',
      bar: { atLeast: 95 },
    },
    { what: 'the best possible order would have', value: (100 * drawn.possible) / drawn.shown, unit: '%' },
    {
      what: 'recall, rare nouns drawn as often as frequent ones',
      value: (100 * (even.wanted - even.missed)) / even.wanted,
      unit: '%',
      bar: { atLeast: 100 },
    },
    { what: 'precision of these', value: (100 * even.right) / even.shown, unit: '%' },
    { what: 'the best possible order of these', value: (100 * even.possible) / even.shown, unit: '%' },
  ]
}

/** Copies with other navigation, other dates, one paragraph in ten changed: found; and nothing else is. */
export async function nearDuplicates(
  documents: readonly CorpusDocument[],
  _folder: string,
): Promise<Figure[]> {
  const pages = documents
    .filter(({ sections }) => sections.reduce((sum, { text }) => sum + text.length, 0) > 1500)
    .slice(0, 800)
  const texts = pages.map(({ sections }) => sections.map(({ text }) => text).join('\n'))
  const sketches = texts.map(sketchOf)
  let found = 0
  let copies = 0
  for (const [at, text] of texts.entries()) {
    for (const copy of [
      `Home News About\n${text}\nContact 2026`,
      text.replace(/\b(19|20)\d\d\b/g, '1999'),
      tenthChanged(text),
    ]) {
      copies++
      if (similarity(sketchOf(copy), sketches[at]!) >= 0.6) found++
    }
  }
  let wrong = 0
  for (const [at, sketch] of sketches.entries()) {
    const isWrong = sketches.some(
      (other, index) =>
        index < at && similarity(sketch, other) >= 0.6 && overlap(texts[at]!, texts[index]!) < 0.5,
    )
    if (isWrong) wrong++
  }
  return [
    { what: 'copies', value: copies, unit: '' },
    { what: 'copies found', value: (100 * found) / copies, unit: '%', bar: { atLeast: 95 } },
    {
      what: 'pages in a wrong cluster',
      value: (100 * wrong) / pages.length,
      unit: '%',
      bar: { atMost: 0.5 },
    },
  ]
}

function tenthChanged(text: string): string {
  return text
    .split('\n')
    .map((line, at) => (at % 10 === 4 ? [...line.split(' ')].reverse().join(' ') : line))
    .join('\n')
}

function sketchOf(text: string): Uint8Array {
  const sketcher = new Sketcher()
  sketcher.begin()
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    let hash = word.length
    for (let at = 0; at < word.length; at++) {
      hash = Math.imul(hash ^ word.charCodeAt(at), 0x9e3779b1)
      hash ^= hash >>> 15
    }
    sketcher.word(hash)
  }
  return sketcher.end()
}

/** The true share of common shingles of four words. */
function overlap(one: string, other: string): number {
  const shingles = (text: string) => {
    const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
    return new Set(words.slice(3).map((_, at) => words.slice(at, at + 4).join(' ')))
  }
  const a = shingles(one)
  const b = shingles(other)
  let common = 0
  for (const each of a) if (b.has(each)) common++
  return common / (a.size + b.size - common)
}
