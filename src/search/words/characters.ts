/** What a character is to the scanner of words. Looked up once for each character and then remembered. */

/** Ends words. */
export const SEPARATOR = 1
/** Part of a word in a script with spaces. */
export const WORD = 2
/** Han, Hiragana, Katakana, Hangul, Bopomofo: written without spaces, or inflected, so that pairs of them are words. */
export const PAIRED = 3
/** Thai, Lao, Khmer, Burmese: written without spaces, cut by a dictionary. */
export const UNSPACED = 4
/** A word by itself, such as an emoji. */
export const SYMBOL = 5
/** The first half of a character outside the basic plane: the next unit decides. */
const LEAD = 6

const LETTER = /[\p{L}\p{N}\p{M}]/u
const PAIRED_SCRIPTS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}ー\u3099\u309a]/u
const UNSPACED_SCRIPTS = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const PICTOGRAPH = /\p{Extended_Pictographic}/u
/** Choose how the character before them looks. */
const VARIATION = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u

/** The class of each unit as far as it was asked for: `UNKNOWN` otherwise, `LEAD` if the next unit decides. */
export const CLASS_OF_UNIT = new Uint8Array(2 ** 16)
const UNKNOWN = 0
const astral = new Map<number, number>()
/** Distinct characters outside the basic plane that are remembered; text that has more is hostile. */
const MOST_REMEMBERED = 20_000

/** The class of the character at `at`. The caller skips two units if it is outside the basic plane. */
export function classAt(units: Uint16Array, at: number): number {
  const unit = units[at]!
  const known = CLASS_OF_UNIT[unit]!
  if (known !== UNKNOWN && known !== LEAD) return known
  if (isLead(unit)) return classOfAstral(units, at)
  return (CLASS_OF_UNIT[unit] = classOf(String.fromCharCode(unit)))
}

function isLead(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isTrail(unit: number | undefined): boolean {
  return unit !== undefined && unit >= 0xdc00 && unit <= 0xdfff
}

function classOfAstral(units: Uint16Array, at: number): number {
  const lead = units[at]!
  const trail = units[at + 1]
  CLASS_OF_UNIT[lead] = LEAD
  // A lone surrogate is no character.
  if (!isTrail(trail)) return SEPARATOR
  const point = (lead - 0xd800) * 0x400 + (trail! - 0xdc00) + 0x1_0000
  const known = astral.get(point)
  if (known !== undefined) return known
  const found = classOf(String.fromCodePoint(point))
  if (astral.size < MOST_REMEMBERED) astral.set(point, found)
  return found
}

function classOf(character: string): number {
  if (VARIATION.test(character)) return SEPARATOR
  if (LETTER.test(character)) {
    if (PAIRED_SCRIPTS.test(character)) return PAIRED
    return UNSPACED_SCRIPTS.test(character) ? UNSPACED : WORD
  }
  // Arrows, dingbats and newer pictographs; © and ™ are punctuation of their words.
  return PICTOGRAPH.test(character) && character.codePointAt(0)! >= 0x2190 ? SYMBOL : SEPARATOR
}

/** Units of the character at `at`: 2 outside the basic plane. */
export function unitsAt(units: Uint16Array, at: number): number {
  return isLead(units[at]!) && isTrail(units[at + 1]) ? 2 : 1
}
