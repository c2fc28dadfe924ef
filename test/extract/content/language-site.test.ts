/** Pages of a manual in twelve languages, many of them only partly translated, without their declared language. */

import { expect, it } from 'vitest'
import { pageOf } from '../../../src/conformance/page.js'
import { sample } from '../../thorough.js'
import { filesIn, hasShared } from './archive.js'

const HANDBOOK = 'sites/handbook.tar.gz'

/** By language: its letters, and the least share of them among all letters of a page that is mainly in it. */
const LETTERS: Readonly<Record<string, readonly [letters: RegExp, share: number]>> = {
  ar: [/\p{Script=Arabic}/gu, 0.5],
  de: [/[äöüß]/giu, 0.01],
  el: [/\p{Script=Greek}/gu, 0.5],
  en: [/[a-z]/gi, 0.9],
  es: [/[áéíóúñ¿¡]/giu, 0.015],
  fr: [/[àâçéèêëîïôùûœ]/giu, 0.02],
  ja: [/[\p{Script=Hiragana}\p{Script=Katakana}]/gu, 0.2],
  ko: [/\p{Script=Hangul}/gu, 0.5],
  ru: [/\p{Script=Cyrillic}/gu, 0.5],
  vi: [/[ăâđêôơưạảấầẩậắằẳẵặẹẻếềểễệỉịọỏốồổộớờởợụủứừửữựỷỹ]/giu, 0.1],
  zh: [/\p{Script=Han}/gu, 0.3],
}

it.skipIf(!hasShared(HANDBOOK))(
  'detects the language of at least 99 % of pages',
  () => {
    const files = [...filesIn(HANDBOOK)].filter(([path]) => path.endsWith('.html'))
    const mixed = files
      .map((file, index) => ({ file, at: (index * 7919) % files.length }))
      .sort((a, b) => a.at - b.at)
    const wrong: string[] = []
    let asked = 0
    for (const { file } of sample(mixed, 300)) {
      const [path, content] = file
      const language = path.slice(0, 2)
      const [letters, share] = LETTERS[language]!
      const body = content.toString().replace(/\s(?:xml:)?lang="[^"]*"/g, '')
      const page = pageOf({ url: `https://example.com/${path}`, body })
      const all = page.text.match(/\p{L}/gu)?.length ?? 0
      if (all < 50 || (page.text.match(letters)?.length ?? 0) < share * all) continue
      asked++
      expect(page.language.declared, path).toBeUndefined()
      if (page.language.code !== language) wrong.push(path)
    }
    console.log(`language of ${asked} pages, wrong: ${wrong.length}`)
    expect(asked).toBeGreaterThan(80)
    expect(wrong.length / asked, wrong.join(' ')).toBeLessThanOrEqual(0.01)
  },
  120_000,
)
