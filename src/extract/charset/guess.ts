/**
 * The encoding of text that declares none and is not UTF-8. Browsers guess too; where nothing speaks for another
 * encoding the answer is theirs, windows-1252.
 *
 * The guess reads a small sample in each encoding that it knows and asks in which of them it looks like a language:
 * how many of its letters are those that a language uses most, and how often it breaks a rule of all writing (a sign
 * in the middle of a word, a capital after a small letter, two alphabets in one word). So the only tables are a few
 * dozen letters for each language.
 */

import { decoderFor, decodeWith } from './decoders.js'

/** More text does not change the answer. */
const SAMPLE_BYTES = 2048
/** Where to look for the sample. */
const SEARCHED_BYTES = 256 * 1024
/** Fewer letters could be anything. */
const FEWEST_LETTERS = 4
/** By how much another encoding must be better than windows-1252, both between 0 and 1; more if letters are few. */
const MARGIN = 0.08
const MARGIN_OF_ONE_LETTER = 1.5
/** Text that is UTF-8 but for this part was cut, or holds a stranger's comment. None is UTF-8 by chance. */
const DAMAGED = 1 / 5

interface Language {
  readonly encoding: string
  /** In small letters. */
  readonly common: string
  /** Which part of the letters beyond ASCII they make up in ordinary text. */
  readonly share: number
  /** The first bytes of the characters in daily use, where an encoding of two bytes keeps those apart. */
  readonly leads?: readonly [first: number, last: number]
  /** The characters that nearly all of its letters are of, where other encodings would not give these by chance. */
  readonly block?: readonly [first: number, last: number]
  /** The last row of signs and single letters before them, if it is not the usual one. */
  readonly lastSigns?: number
}

function language(encoding: string, common: string, share: number): Language {
  return { encoding, common, share }
}

/** All letters beyond ASCII of a language that is written in Latin ones. */
function latin(encoding: string, letters: string): Language {
  return language(encoding, letters, 1)
}

const WESTERN = 'windows-1252'
/** Czech, Slovak, Polish, Hungarian, Slovene and Croatian, Romanian: in two encodings, which differ in a dozen letters. */
const CENTRAL_EUROPEAN = ['ěščřžýáíéůúňťďó', 'áäčďéíĺľňóôŕšťúýž', 'ąęłóśżźćń', 'áéíóöőúüű', 'čćžšđ', 'ăâîşţ']
const CYRILLIC = 'оеаинтсрвл'
const ARABIC = 'اليمونرتبةعد'
const KANA =
  'あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをんがぎぐげござじずぜぞだでどばびぶべぼぱっゃゅょ' +
  'アイウエオカキクケコサシスセソタチツテトナニネノハヒフヘホマミムメモヤユヨラリルレロワンガギグゲゴザジズゼゾダデドバビブベボパピプペポァィェォッャュョー'
/** Written alike in both ways of writing Chinese. */
const HAN =
  '的一是不了在人有我他中大上和地到以家可下年要生自得那子出也能小多天成事用方心公本日月回新文第分全部前三二十同心'
const SYLLABLES = '이다는에의을를가고하지사기한로은도어리시인'

/** An encoding for each language; of two that fit equally the first is taken. Made on first use. */
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
  // Korean writes laughter and lists with letters that are no syllables.
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

/** Guesses the encoding of bytes that are not UTF-8 as a whole. */
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
      reading = readingOf(decodeWith(decoderFor(encoding)!, sample))
    }
    if (reading.letters < FEWEST_LETTERS) continue
    const likeness = Math.max(
      commonness(reading, each),
      isInDailyUse(sample, each) ? SURE : 0,
      isOfBlock(reading, each) ? SURER : 0,
    )
    const score = likeness - reading.breaches / reading.letters
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

/** Whether nearly all letters are of the language's own, and stand as they may. */
function isOfBlock({ letters, breaches, counts }: Reading, { block }: Language): boolean {
  if (block === undefined || letters < FEWEST_OF_BLOCK || breaches > RARE * letters) return false
  let found = 0
  for (const [code, count] of counts) if (code >= block[0] && code <= block[1]) found += count
  return found >= MOST_OF_BLOCK * letters
}

/** Names of people and places hold few common characters, but they are written in those of daily use. */
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

/** Rows of signs that all encodings of two bytes begin with. */
const FIRST_PUNCTUATION = 0xa1
const LAST_PUNCTUATION = 0xa3
const RARE = 1 / 30
const SURE = 0.9
/** Simplified Chinese is in daily use too if its characters are read as Korean, but half of them are no syllables then. */
const SURER = 0.95
const FEWEST_OF_BLOCK = 8
const MOST_OF_BLOCK = 0.8

/** The words that hold more than ASCII, each with a character before it and one or two after it. */
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
    // In several encodings the second byte of a character is an ASCII letter; two in a row are text.
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

/** Below this no byte belongs to a character of two bytes: white space, digits, `<` and `>`. */
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

/** The sample as one encoding reads it. */
interface Reading {
  /** How many letters beyond ASCII it holds, and characters that cannot be read. */
  readonly letters: number
  /** Places that no text has. */
  readonly breaches: number
  /** How often each character beyond ASCII occurs, as a small letter. */
  readonly counts: ReadonlyMap<number, number>
}

const NO_READING: Reading = { letters: 0, breaches: 0, counts: new Map() }

function readingOf(text: string): Reading {
  let letters = 0
  let breaches = 0
  let latinRun = 0
  let before = 0
  let kind = kindOf(text.charCodeAt(0))
  for (let i = 0; i < text.length; i++) {
    const after = i + 1 < text.length ? kindOf(text.charCodeAt(i + 1)) : 0
    if (kind & BEYOND) {
      if (kind & (LETTER | UNREADABLE)) letters++
      if (isBreach(before, kind, after)) breaches++
      latinRun = kind & LATIN ? latinRun + 1 : 0
      if (latinRun > LONGEST_LATIN_RUN) breaches++
    } else {
      latinRun = 0
      if (kind & LETTER && after & ALPHABET) breaches++
    }
    before = kind
    kind = after
  }
  return { letters, breaches, counts: countsOf(text.toLowerCase()) }
}

/** `créée` has three. */
const LONGEST_LATIN_RUN = 3

/** Whether a character beyond ASCII stands where none of its kind may. */
function isBreach(before: number, kind: number, after: number): boolean {
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

/** What a character is: a set of bits. */
const KNOWN = 1
const LETTER = 2
const SMALL = 4
const CAPITAL = 8
const MARK = 16
const UNREADABLE = 32
/** What stands inside words without being a letter: an apostrophe, a hyphen, a middle dot, a hard space. */
const JOINER = 64
/** A letter of an alphabet that does not mix with Latin letters in one word. */
const ALPHABET = 128
const EAST_ASIAN = 256
const LATIN = 512
/** Beyond ASCII. */
const BEYOND = 1024
/** Only ever the last letter of a word, or the first where words are written from right to left as they are read. */
const FINAL = 2048
/** A sign of mathematics or money, a line of a frame: it stands beside numbers and blanks, not beside letters. */
const SYMBOL = 4096
/** Of these, one that does not stand beside Latin letters either, as the signs of trade marks and degrees do. */
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

/** By UTF-16 unit; filled as characters are met. */
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
