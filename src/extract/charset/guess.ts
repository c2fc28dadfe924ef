/**
 * Guesses the encoding of text that declares none and is not UTF-8. Browsers guess too; without evidence for another
 * encoding the result is theirs, windows-1252.
 *
 * It decodes a small sample with each known encoding and rates how much the result looks like a language: the share of
 * letters that the language uses most, and violations of rules that hold for all writing (a symbol inside a word, a capital
 * after a small letter, two alphabets in one word). So the only tables are a few dozen letters per language.
 */

import { decoderFor, decodeWith } from './decoders.js'

/** More text does not change the result. */
const SAMPLE_BYTES = 2048
/** Where to look for the sample. */
const SEARCHED_BYTES = 256 * 1024
/** Fewer letters could be anything. */
const FEWEST_LETTERS = 4
/** How much better than windows-1252 another encoding must score, from 0 to 1; more if there are few letters. */
const MARGIN = 0.08
const MARGIN_OF_ONE_LETTER = 1.5
/** Text that is UTF-8 except for this share was cut, or contains a foreign comment. No text is UTF-8 by chance. */
const DAMAGED = 1 / 5

interface Language {
  readonly encoding: string
  /** The most common letters, in lower case. */
  readonly common: string
  /** Their share of the letters beyond ASCII in ordinary text. */
  readonly share: number
  /** Lead bytes of the characters in daily use, if a double-byte encoding keeps those apart. */
  readonly leads?: readonly [first: number, last: number]
  /** The code points of nearly all of its letters, if other encodings would not produce them by chance. */
  readonly block?: readonly [first: number, last: number]
  /** The last lead byte of the rows of symbols, if it is not the usual one. */
  readonly lastSigns?: number
}

function language(encoding: string, common: string, share: number): Language {
  return { encoding, common, share }
}

/** A language in Latin script, with all its letters beyond ASCII. */
function latin(encoding: string, letters: string): Language {
  return language(encoding, letters, 1)
}

const WESTERN = 'windows-1252'
/** Czech, Slovak, Polish, Hungarian, Slovene and Croatian, Romanian: in two encodings that differ in a dozen letters. */
const CENTRAL_EUROPEAN = ['ěščřžýáíéůúňťďó', 'áäčďéíĺľňóôŕšťúýž', 'ąęłóśżźćń', 'áéíóöőúüű', 'čćžšđ', 'ăâîşţ']
const CYRILLIC = 'оеаинтсрвл'
const ARABIC = 'اليمونرتبةعد'
const KANA =
  'あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをんがぎぐげござじずぜぞだでどばびぶべぼぱっゃゅょ' +
  'アイウエオカキクケコサシスセソタチツテトナニネノハヒフヘホマミムメモヤユヨラリルレロワンガギグゲゴザジズゼゾダデドバビブベボパピプペポァィェォッャュョー'
/** The same in simplified and traditional Chinese. */
const HAN =
  '的一是不了在人有我他中大上和地到以家可下年要生自得那子出也能小多天成事用方心公本日月回新文第分全部前三二十同心'
const SYLLABLES = '이다는에의을를가고하지사기한로은도어리시인'

/** The languages with their encodings; of two equal scores, the first wins. Created on first use. */
const languages = (): readonly Language[] => [
  latin(WESTERN, 'éèàçêôûùâîïëœ'),
  latin(WESTERN, 'äöüßé'),
  latin(WESTERN, 'äöüõšž'),
  latin(WESTERN, 'ñóíáéúüçàèïòºª'),
  latin(WESTERN, 'ãõçáéíóúâêôàºª'),
  latin(WESTERN, 'åäöæøéü'),
  latin(WESTERN, 'åäöšž'),
  latin(WESTERN, 'ðþýáíóúéæö'),
  latin(WESTERN, 'àèéìòù'),
  ...CENTRAL_EUROPEAN.map((letters) => latin('windows-1250', letters)),
  ...CENTRAL_EUROPEAN.map((letters) => latin('iso-8859-2', letters)),
  latin('windows-1254', 'çğıöşüâî'),
  latin('windows-1257', 'ąčęėįšųūž'),
  latin('windows-1257', 'āčēģīķļņšūž'),
  language('windows-1251', CYRILLIC, 0.62),
  language('koi8-u', CYRILLIC, 0.62),
  language('iso-8859-5', CYRILLIC, 0.62),
  language('ibm866', CYRILLIC, 0.62),
  language('x-mac-cyrillic', CYRILLIC, 0.62),
  language('windows-1253', 'αοιετσνηυρπκςίό', 0.75),
  { ...language('windows-1255', 'יוהלארתבמש', 0.68), block: [0x05d0, 0x05ea] },
  language('windows-1256', ARABIC, 0.75),
  language('iso-8859-6', ARABIC, 0.75),
  language('windows-874', 'านรอกเงยมลวดทสต', 0.6),
  language('shift_jis', KANA, 0.5),
  language('euc-jp', KANA, 0.5),
  // Korean uses letters that are not syllables for laughter and lists.
  {
    ...language('euc-kr', SYLLABLES, 0.3),
    leads: [0xb0, 0xc8],
    lastSigns: 0xa9,
    block: [0xac00, 0xd7a3],
  },
  {
    ...language(
      'gb18030',
      `${HAN}这来个国们为会时说对后过发经学进种现还动没开么间题样关应与电实长当产东网业问两机点头`,
      0.35,
    ),
    leads: [0xb0, 0xd7],
  },
  {
    ...language(
      'big5',
      `${HAN}這來個國們為會時說對後過發經學進種現還動沒開麼間題樣關應與電實長當產東網業問兩機點頭`,
      0.35,
    ),
    leads: [0xa4, 0xc6],
  },
]

let known: readonly Language[] | undefined

/** Guesses the encoding of bytes that are not valid UTF-8. */
export function guessEncoding(bytes: Buffer): string {
  const sample = sampleOf(bytes)
  if (isNearlyUtf8(sample)) return 'utf-8'
  known ??= languages()
  let best = WESTERN
  let bestScore = 0
  let encoding = ''
  let reading = NO_READING
  for (const each of known) {
    if (each.encoding !== encoding) {
      encoding = each.encoding
      reading = readSample(decodeWith(decoderFor(encoding)!, sample))
    }
    if (reading.letters < FEWEST_LETTERS) continue
    const likeness = Math.max(
      commonness(reading, each),
      isInDailyUse(sample, each) ? SURE : 0,
      isOfBlock(reading, each) ? SURER : 0,
    )
    const score = likeness - reading.violations / reading.letters
    const isChange = best === WESTERN && encoding !== WESTERN
    if (score > bestScore + (isChange ? MARGIN + MARGIN_OF_ONE_LETTER / reading.letters : 0)) {
      best = encoding
      bestScore = score
    }
  }
  return best
}

function commonness({ letters, counts }: Reading, { common, share }: Language): number {
  let found = 0
  for (let i = 0; i < common.length; i++) found += counts.get(common.charCodeAt(i)) ?? 0
  return Math.min(1, found / letters / share)
}

/** Whether nearly all letters are in the language's block, without violations. */
function isOfBlock({ letters, violations, counts }: Reading, { block }: Language): boolean {
  if (block === undefined || letters < FEWEST_OF_BLOCK || violations > RARE * letters) return false
  let found = 0
  for (const [code, count] of counts) if (code >= block[0] && code <= block[1]) found += count
  return found >= MOST_OF_BLOCK * letters
}

/** Names of people and places contain few common characters, but their characters are in daily use. */
function isInDailyUse(sample: Buffer, { leads, lastSigns = LAST_PUNCTUATION }: Language): boolean {
  if (leads === undefined) return false
  const [first, last] = leads
  let usual = 0
  let others = 0
  for (let at = 0; at < sample.length; at++) {
    const lead = sample[at]!
    if (lead < 0x80) continue
    at++
    if (lead >= first && lead <= last) usual++
    else if (lead < FIRST_PUNCTUATION || lead > lastSigns) others++
  }
  return usual >= FEWEST_LETTERS && others <= RARE * usual
}

/** Rows of symbols, with which all double-byte encodings start. */
const FIRST_PUNCTUATION = 0xa1
const LAST_PUNCTUATION = 0xa3
const RARE = 1 / 30
const SURE = 0.9
/** Simplified Chinese read as Korean is in daily use too, but half of it are not syllables. */
const SURER = 0.95
const FEWEST_OF_BLOCK = 8
const MOST_OF_BLOCK = 0.8

/** Words that contain more than ASCII, each with the character before it and one or two after it. */
function sampleOf(bytes: Buffer): Buffer {
  const sample = Buffer.allocUnsafe(SAMPLE_BYTES)
  const end = Math.min(bytes.length, SEARCHED_BYTES)
  let length = 0
  let at = 0
  while (at < end && length < SAMPLE_BYTES) {
    if (bytes[at]! < 0x80) {
      at++
      continue
    }
    if (at > 0) sample[length++] = bytes[at - 1]!
    // In several encodings the trail byte can be an ASCII letter; two in a row are text.
    let ascii = 0
    while (at < end && length < SAMPLE_BYTES && ascii < 2) {
      const byte = bytes[at++]!
      sample[length++] = byte
      if (byte >= 0x80) ascii = 0
      else ascii += byte < FIRST_SECOND_BYTE ? 2 : 1
    }
  }
  return sample.subarray(0, length)
}

/** Lower bytes are never part of a double-byte character: white space, digits, `<` and `>`. */
const FIRST_SECOND_BYTE = 0x40

function isNearlyUtf8(sample: Buffer): boolean {
  const text = sample.toString('utf8')
  let beyond = 0
  let damaged = 0
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) >= 0x80) beyond++
    if (text[i] === '\ufffd') damaged++
  }
  return damaged <= DAMAGED * beyond
}

/** The sample decoded with one encoding. */
interface Reading {
  /** Number of letters beyond ASCII and of undecodable characters. */
  readonly letters: number
  /** Number of sequences that no text contains. */
  readonly violations: number
  /** Occurrences of each character beyond ASCII, in lower case. */
  readonly counts: ReadonlyMap<number, number>
}

const NO_READING: Reading = { letters: 0, violations: 0, counts: new Map() }

function readSample(text: string): Reading {
  let letters = 0
  let violations = 0
  let latinRun = 0
  let before = 0
  let kind = kindOf(text.charCodeAt(0))
  for (let i = 0; i < text.length; i++) {
    const after = i + 1 < text.length ? kindOf(text.charCodeAt(i + 1)) : 0
    if (kind & BEYOND) {
      if (kind & (LETTER | UNREADABLE)) letters++
      if (isViolation(before, kind, after)) violations++
      latinRun = kind & LATIN ? latinRun + 1 : 0
      if (latinRun > LONGEST_LATIN_RUN) violations++
    } else {
      latinRun = 0
      if (kind & LETTER && after & ALPHABET) violations++
    }
    before = kind
    kind = after
  }
  return { letters, violations, counts: countsOf(text.toLowerCase()) }
}

/** `créée` has three. */
const LONGEST_LATIN_RUN = 3

/** Whether a character beyond ASCII is where no character of its kind can be. */
function isViolation(before: number, kind: number, after: number): boolean {
  if (kind & UNREADABLE) return true
  if (kind & MARK) return !(before & (LETTER | MARK))
  if (kind & LETTER) {
    if (kind & SMALL && after & CAPITAL) return true
    if (kind & FINAL && before & LETTER && after & LETTER) return true
    return (kind & ALPHABET) !== 0 && (after & (LETTER | BEYOND)) === LETTER
  }
  if (kind & SYMBOL && (before | after) & (kind & STRANGE ? LETTER : ALPHABET)) return true
  return !(kind & JOINER) && (before & LETTER) !== 0 && !(before & EAST_ASIAN) && (after & LETTER) !== 0
}

function countsOf(text: string): Map<number, number> {
  const counts = new Map<number, number>()
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x80) counts.set(code, (counts.get(code) ?? 0) + 1)
  }
  return counts
}

/** Kinds of characters, as a bit set. */
const KNOWN = 1
const LETTER = 2
const SMALL = 4
const CAPITAL = 8
const MARK = 16
const UNREADABLE = 32
/** Part of words without being a letter: apostrophe, hyphen, middle dot, no-break space. */
const JOINER = 64
/** A letter of an alphabet that is not mixed with Latin letters in one word. */
const ALPHABET = 128
const EAST_ASIAN = 256
const LATIN = 512
/** Beyond ASCII. */
const BEYOND = 1024
/** Only ever the last letter of a word. */
const FINAL = 2048
/** A mathematical or currency symbol or a box drawing: next to numbers and spaces, not next to letters. */
const SYMBOL = 4096
/** One that is not next to Latin letters either, unlike trademark and degree signs. */
const STRANGE = 8192

const KINDS: readonly (readonly [kind: number, expression: RegExp])[] = [
  [LETTER, /\p{L}/u],
  [SMALL, /\p{Ll}/u],
  [CAPITAL, /\p{Lu}/u],
  [MARK, /\p{M}/u],
  [UNREADABLE, /[\ufffd\x80-\x9f\ue000-\uf8ff]/],
  [JOINER, /[\u2018\u2019\u2010-\u2015\u00b7\u00a0\u00ad]/],
  [ALPHABET, /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Thai}]/u],
  [EAST_ASIAN, /[\u2e80-\uffff]/],
  [LATIN, /[À-ɏ]/],
  [BEYOND, /[\u0080-\uffff]/],
  [FINAL, /[ςךםןףץ]/],
  [SYMBOL, /[\p{S}†‡§¶•]/u],
  [STRANGE, /[±¶¦†‡¬ˇ˘˛˝]/],
]

/** By UTF-16 unit; filled on demand. */
let kinds: Uint16Array | undefined

function kindOf(code: number): number {
  kinds ??= new Uint16Array(0x10000)
  let kind = kinds[code]!
  if (kind === 0) {
    const character = String.fromCharCode(code)
    kind = KNOWN
    for (const [each, expression] of KINDS) if (expression.test(character)) kind |= each
    kinds[code] = kind
  }
  return kind
}
