/**
 * Folds a word: lower case, and without the accents that its readers leave out when they type. Which these are depends on
 * the language: `ö` is a letter of its own in Swedish and an accented `o` in English.
 */

/** Letters that are not folded, by language. */
const LETTERS: Readonly<Record<string, string>> = {
  sv: 'åäö',
  fi: 'åäö',
  et: 'äöüõ',
  da: 'æøå',
  no: 'æøå',
  nb: 'æøå',
  nn: 'æøå',
  is: 'áéíóúýþæöð',
  es: 'ñ',
  gl: 'ñ',
  tr: 'çğıöşü',
  az: 'çğıöşüə',
  pl: 'ł',
  hu: 'öüőű',
}

/** Languages whose upper case I is not i. */
const DOTLESS: ReadonlySet<string> = new Set(['tr', 'az'])

/** Marks that can be left out: of Latin, Greek and Cyrillic; points of Hebrew; vowel signs of Arabic. */
const MARKS = /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0640]/g
const FOLDABLE = /[\u00c0-\u06ff\u1e00-\u1fff]/
/** Letters that no normal form takes apart. */
const WHOLE: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ı: 'i',
  ς: 'σ',
  ħ: 'h',
  ŋ: 'n',
}
const WHOLE_LETTERS = /[ßæœøđðþłıςħŋ]/g
/** Cyrillic й is и with a breve to Unicode, and another letter to everybody else. */
const SHORT_I = 'й'

/** Languages with letters of their own; others fold alike. */
export function hasOwnLetters(language: string): boolean {
  return Object.hasOwn(LETTERS, language)
}

/** @param word In normal form NFKC. */
export function fold(word: string, language = ''): string {
  const lower = DOTLESS.has(language) ? word.toLocaleLowerCase(language) : word.toLowerCase()
  if (!FOLDABLE.test(lower)) return lower
  const kept = `${Object.hasOwn(LETTERS, language) ? LETTERS[language]! : ''}${SHORT_I}`
  let folded = ''
  for (const letter of lower.normalize('NFC')) {
    if (kept.includes(letter)) folded += letter
    else folded += letter.normalize('NFD').replace(MARKS, '').replace(WHOLE_LETTERS, whole)
  }
  return folded.normalize('NFC')
}

function whole(letter: string): string {
  return WHOLE[letter]!
}
