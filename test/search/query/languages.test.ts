/** Every place where a text has the query is found, in scripts with and without spaces. */

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { openIndex, openWriter, type SearchIndex } from 'kumo/search'
import kuromoji from 'kuromoji'
import { describe, expect, onTestFinished, test } from 'vitest'
import { seededRandom } from '../../../src/time.js'
import { isThorough } from '../../thorough.js'
import { freshFolder, indexOf } from '../corpus.js'

const HAN = '東京都庁日本語検索木林森学校生活中国人民𠮷野家'
const KATAKANA = 'カーネルプログラムデータガイドヴァ'
const HIRAGANA = 'のをにはがとでしますた'
const HANGUL = '한국어검색엔진서울대학교을는'

/** Runs of one or more scripts, now and then with Latin words, digits and punctuation between them. */
function mixedText(random: () => number): string {
  const pick = (letters: string) => [...letters][Math.floor(random() * [...letters].length)]!
  let text = ''
  for (let runs = 2 + Math.floor(random() * 6); runs > 0; runs--) {
    const script = [HAN, KATAKANA, HIRAGANA, HANGUL][Math.floor(random() * 4)]!
    for (let left = 1 + Math.floor(random() * 6); left > 0; left--) text += pick(script)
    if (random() < 0.4) text += ['。', ' ', 'Linux', '6.1', '、', '😀', '・'][Math.floor(random() * 7)]
  }
  return text
}

describe('Chinese, Japanese and Korean', () => {
  test('every part of every run is found, whatever the scripts and however short', async () => {
    const { next } = seededRandom(31)
    const random = () => next()
    const texts = Array.from({ length: 120 }, () => mixedText(random))
    const index = await indexOf(
      texts.map((text, at) => ({ url: `https://example.com/${at}`, text })),
      {},
      30,
    )
    for (let asked = 0; asked < 120; asked++) {
      const text = texts[Math.floor(random() * texts.length)]!
      const runs = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+/gu)!
      const run = [...runs[Math.floor(random() * runs.length)]!]
      const from = Math.floor(random() * run.length)
      const query = run.slice(from, from + 1 + Math.floor(random() * 4)).join('')
      const { hits } = await index.search(query, {
        limit: 1000,
        groupBy: 'none',
        fuzzy: false,
        highlight: false,
      })
      const found = hits.map(({ url }) => Number(url.split('/').at(-1))).sort((a, b) => a - b)
      const truth = texts.flatMap((each, at) => (each.includes(query) ? [at] : []))
      expect(found, query).toEqual(truth)
    }
  })

  test.each<[string, string, string]>([
    ['half-width katakana', 'ﾌﾟﾛｸﾞﾗﾑ ﾃﾞｰﾀ', 'プログラム'],
    ['a half-width query', 'プログラムのデータ', 'ﾃﾞｰﾀ'],
    ['full-width letters', 'ＡＰＩの使い方', 'api'],
    ['a word between scripts', 'Linuxカーネル6.1を使う', 'カーネル'],
    ['Latin between kana', 'この Node.js は速い', 'node.js'],
    ['decomposed kana', 'ガイド'.normalize('NFD'), 'ガイド'],
    ['decomposed Hangul', '한국어'.normalize('NFD'), '한국'],
    ['a Korean word with its ending', '검색엔진을 쓴다', '검색엔진'],
    ['a character outside the basic plane', '𠮷野家で食べる', '𠮷'],
    ['the last character of a run', '東京の木', '木'],
    ['old forms of characters', '㈱の㍻', '平成'],
    ['traditional Chinese', '資訊檢索系統', '檢索'],
  ])('%s', async (_, text, query) => {
    const index = await indexOf([
      { url: 'https://example.com/', text },
      { url: 'https://example.com/other', text: '何もない' },
    ])
    const { hits } = await index.search(query, { fuzzy: false })
    expect(hits.map(({ url }) => url)).toEqual(['https://example.com/'])
    const { text: shown, ranges } = hits[0]!.snippet!
    expect(ranges.length).toBeGreaterThan(0)
    for (const [start, end] of ranges)
      expect(shown.slice(start, end).normalize('NFKC').toLowerCase()).not.toBe('')
  })

  test('records with the query as a word stand above all that have it only inside of longer words', async () => {
    const inside = Array.from({ length: 52 }, (_, at) => ({
      url: `https://in.example/${at}`,
      text: 'グループ',
    }))
    const words = Array.from({ length: 10 }, (_, at) => ({
      url: `https://word.example/${at}`,
      text: `この処理は ループ を使います。${'ほかの説明です。'.repeat(8)}`,
    }))
    const index = await indexOf([...inside, ...words])
    const { hits } = await index.search('ループ', { groupBy: 'none' })
    expect(hits.map(({ url }) => new URL(url).host)).toEqual(Array(10).fill('word.example'))
  })

  test('matches are marked after letters that become longer in lower case', async () => {
    const index = await indexOf([{ url: 'https://example.com/', text: `${'İ'.repeat(20)} 東京です` }])
    const { text, ranges } = (await index.search('東京')).hits[0]!.snippet!
    expect(ranges.map(([start, end]) => text.slice(start, end))).toEqual(['東京'])
  })
})

test.each<[string, string, string]>([
  ['Thai', 'ภาษาไทยเขียนโดยไม่เว้นวรรค', 'ภาษา'],
  ['Lao', 'ພາສາລາວ', 'ພາສາ'],
  ['Arabic with vowels', 'اللُّغَةُ العَرَبِيَّة', 'العربية'],
  ['Hebrew with points', 'שָׁלוֹם עוֹלָם', 'שלום'],
  ['Russian', 'Ещё одна книга', 'еще'],
  ['Hindi', 'हिन्दी में खोज', 'हिन्दी'],
])('%s', async (_, text, query) => {
  const index = await indexOf([{ url: 'https://example.com/', text }])
  expect((await index.search(query, { fuzzy: false })).total).toBe(1)
})

describe("the user's segmenter", () => {
  // Its dictionary takes a second and 300 MB.
  test.runIf(isThorough)('may be kuromoji', async () => {
    const dicPath = join(dirname(createRequire(import.meta.url).resolve('kuromoji/package.json')), 'dict')
    const tokenizer = await new Promise<kuromoji.Tokenizer<kuromoji.IpadicFeatures>>((resolve, reject) => {
      kuromoji.builder({ dicPath }).build((error, built) => (error ? reject(error) : resolve(built)))
    })
    const segmenters = { ja: (text: string) => tokenizer.tokenize(text).map((token) => token.surface_form) }
    const folder = freshFolder()
    const writer = await openWriter(folder, { segmenters, sync: false })
    await writer.put({ url: 'https://example.com/', language: 'ja', text: '東京都の天気を検索する。' })
    await writer.close()
    const index = await openIndex(folder, { segmenters })
    for (const [query, total] of Object.entries({ 東京: 1, 天気: 1, 検索: 1, 京都: 0, 東京都の天気: 1 }))
      expect((await index.search(query, { fuzzy: false })).total, query).toBe(total)
    await index.close()
  })

  /** As kuromoji, lindera and jieba do: the words of a run, in order. */
  const cut = (run: string) => run.match(/東京都|東京|京都|検索|エンジン|[\s\S]/gu) ?? []

  async function segmented(): Promise<SearchIndex> {
    const folder = freshFolder()
    const writer = await openWriter(folder, { segmenters: { ja: cut }, sync: false })
    await writer.put({ url: 'https://example.com/tokyo', language: 'ja', text: '東京都の検索エンジン' })
    await writer.put({ url: 'https://example.com/kyoto', language: 'ja', text: '京都の検索' })
    await writer.put({ url: 'https://example.com/zh', language: 'zh', text: '东京都市圈' })
    await writer.close()
    await expect(openIndex(folder)).rejects.toMatchObject({ code: 'KUMO_INDEX_MISMATCH' })
    const index = await openIndex(folder, { segmenters: { ja: cut } })
    onTestFinished(() => index.close())
    return index
  }

  test('decides what a word is, in documents and queries', async () => {
    const index = await segmented()
    const urls = async (query: string) =>
      (await index.search(query, { fuzzy: false })).hits.map(({ url }) => url.split('/').at(-1)).sort()
    // Languages without one are read in pairs.
    expect(await urls('京都')).toEqual(['kyoto', 'zh'])
    expect(await urls('検索')).toEqual(['kyoto', 'tokyo'])
    expect(await urls('検索エンジン')).toEqual(['tokyo'])
    expect(await urls('都市')).toEqual(['zh'])
  })
})
