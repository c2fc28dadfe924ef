/**
 * Dates of feeds. Most are in one of two formats; for the rest the parts are recognized by what they look like, wherever they
 * stand: `31. Dezember 2003, 10:14 Uhr MEZ`, `12/31/2003 10:14 PM`, `20031231`.
 */

import { owned } from '../../owned.js'
import { parseHttpDate, parseW3cDate } from '../../time.js'

const LONGEST = 100
/** The first day of 1970 is what a missing date becomes, in any zone; later than this nothing is planned. */
const EARLIEST = 86_400_000
const LATEST = Date.UTC(2100, 0, 1)

const ISO_LENGTH = '2024-05-01T10:00:00.000Z'.length
const ISO = /^\d{4}-\d\d-[0-2]\dT[01]\d:[0-5]\d:[0-5]\d\.\d{3}Z$/

/** The instant of a date, in ISO 8601; undefined if it cannot be read or cannot be true. */
export function isoDate(written: string): string | undefined {
  if (written.length === ISO_LENGTH && ISO.test(written)) {
    const known = Date.parse(written)
    // It is in that form already.
    if (known >= EARLIEST && known < LATEST) return owned(written)
  }
  const ms = instantOf(written)
  return ms === undefined || ms < EARLIEST || ms >= LATEST ? undefined : new Date(ms).toISOString()
}

function instantOf(written: string): number | undefined {
  const text = written.trim()
  if (text === '' || text.length > LONGEST) return undefined
  return parseW3cDate(text) ?? parseHttpDate(text) ?? compactDate(text) ?? looseDate(text)
}

const COMPACT = /^(\d{4})(\d\d)(\d\d)(?:T?(\d\d)(\d\d)(\d\d)?)?(Z|[+-]\d\d:?\d\d)?$/i
const ORDINAL = /^(\d{4})-?(\d{3})(?:T|$)/
/** ISO 8601 allows the hour alone. */
const HOUR_ONLY = /^(\d{4}-\d\d-\d\dT\d\d)(Z|[+-]\d\d:?\d\d)?$/i
const UNIX = /^(\d{9,10}|\d{12,13})(?:\.\d+)?$/

function compactDate(text: string): number | undefined {
  const compact = COMPACT.exec(text)
  if (compact !== null) {
    const [, year, month, day, hour = '00', minute = '00', second = '00', zone = 'Z'] = compact
    const ms = parseW3cDate(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone.toUpperCase()}`)
    if (ms !== undefined) return ms
  }
  const [, dateAndHour, zone = 'Z'] = HOUR_ONLY.exec(text) ?? []
  if (dateAndHour !== undefined) return parseW3cDate(`${dateAndHour}:00:00${zone}`.toUpperCase())
  const [, year, day] = ORDINAL.exec(text) ?? []
  if (year !== undefined && Number(day) >= 1 && Number(day) <= 366) {
    return Date.UTC(Number(year), 0, Number(day))
  }
  const unix = UNIX.exec(text)?.[1]
  if (unix === undefined) return undefined
  return unix.length > 10 ? Number(unix) : Number(unix) * 1000
}

/** How month names start in the languages in which programs write them, without accents. */
const MONTHS: readonly (readonly [RegExp, number])[] = [
  [/^(?:jan|ene|gen|gna|янв|ιαν)/, 1],
  [/^(?:feb|fev|fbr|фев|φεβ)/, 2],
  [/^(?:mar(?!c?h?ed)|marz|mrz|mae|mrt|maa|мар|μαρ)/, 3],
  [/^(?:apr|avr|abr|апр|απρ)/, 4],
  [/^(?:may|mai|maj|mei|mag(?!y)|май|мая|μαι|μαϊ)/, 5],
  [/^(?:jun|juin|giu|июн|ιουν)/, 6],
  [/^(?:jul|juil|lug|июл|ιουλ)/, 7],
  [/^(?:aug|aou|ago|авг|αυγ)/, 8],
  [/^(?:sep|set(?!t?ima)|сен|σεπ)/, 9],
  [/^(?:oct|okt|out|ott|окт|οκτ)/, 10],
  [/^(?:nov|ноя|νοε)/, 11],
  [/^(?:dec|dez|dic|des|дек|δεκ)/, 12],
]

/** Minutes from UTC. Where a name has several meanings, the one that is most common on the Web. */
const ZONES: Readonly<Record<string, number>> = {
  ...{
    z: 0,
    ut: 0,
    utc: 0,
    gmt: 0,
    wet: 0,
    west: 60,
    bst: 60,
    ist: 330,
    cet: 60,
    mez: 60,
    met: 60,
    cest: 120,
  },
  ...{
    mesz: 120,
    mest: 120,
    eet: 120,
    eest: 180,
    msk: 180,
    msd: 240,
    jst: 540,
    kst: 540,
    hkt: 480,
    sgt: 480,
  },
  ...{ aest: 600, aedt: 660, acst: 570, acdt: 630, awst: 480, nzst: 720, nzdt: 780, sast: 120, brt: -180 },
  ...{ ast: -240, adt: -180, nst: -210, ndt: -150, hst: -600, akst: -540, akdt: -480, brst: -120, art: -180 },
  ...{ est: -300, edt: -240, cst: -360, cdt: -300, mst: -420, mdt: -360, pst: -480, pdt: -420 },
  ...{ et: -300, ct: -360, mt: -420, pt: -480 },
}

const TIME =
  /(?:^|[^\d])(\d{1,2})[:h](\d{2})(?:[:m](\d{2})(?:[.,]\d+)?)?s?\s*(?:([ap])\.?m\b\.?|오전|오후|(am|pm))?/i
const OFFSET = /(?:gmt|utc|ut)?\s*([+-])(\d{1,2}):?(\d{2})?(?!\d|[-/])/i
/** Korean, and Chinese or Japanese. */
const NAMED_PARTS = /(\d{4})\s*(?:년|年)\s*(\d{1,2})\s*(?:월|月)\s*(\d{1,2})\s*(?:일|日|号)/
const NUMERIC = /(\d{1,4})[./-](\d{1,2})[./-](\d{1,4})/
const WORD = /\p{L}+/gu

function looseDate(written: string): number | undefined {
  const text = written
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
  const time = TIME.exec(text)
  const afterTime = time === null ? '' : text.slice(time.index + time[0].length)
  // The time may begin with a character that is not part of it.
  const beforeTime = time === null ? text : text.slice(0, time.index + (/^\d/.test(time[0]) ? 0 : 1))
  const words = `${beforeTime} ${afterTime}`.match(WORD) ?? []
  const day = dayOf(`${beforeTime} ${afterTime}`, words)
  if (day === undefined) return undefined
  const start = Date.UTC(day[0], day[1] - 1, day[2])
  // Neither the 31st of June nor the year 20003.
  if (new Date(start).getUTCMonth() !== day[1] - 1) return undefined
  if (time === null) return start
  const [, hours = '', minutes = '', seconds = '0', half] = time
  let hour = Number(hours)
  const afternoon = half === 'p' || written.includes('오후')
  const morning = half === 'a' || written.includes('오전')
  if (afternoon && hour < 12) hour += 12
  if (morning && hour === 12) hour = 0
  if (hour > 24 || Number(minutes) > 59 || Number(seconds) > 60) return undefined
  const local = start + ((hour * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
  return local - zoneMinutes(afterTime) * 60_000
}

/** Year, month, day. */
function dayOf(text: string, words: readonly string[]): readonly [number, number, number] | undefined {
  const named = NAMED_PARTS.exec(text.normalize('NFC'))
  if (named !== null) return checked(Number(named[1]), Number(named[2]), Number(named[3]))
  const month = monthIn(words)
  if (month !== undefined) {
    const numbers = [...text.matchAll(/(?<![\d+-])\d{1,4}(?!\d)|(?<=[a-z]-)\d{2,4}/g)].map(
      ([digits]) => digits,
    )
    const year = numbers.find(({ length }) => length === 4) ?? numbers.at(-1)
    const day =
      numbers.find((digits) => digits !== year && Number(digits) <= 31) ??
      (numbers.length > 1 ? year : undefined)
    if (year === undefined || day === undefined) return undefined
    return checked(fullYear(year), month, Number(day))
  }
  const [, first, second, third] = NUMERIC.exec(text) ?? []
  if (first === undefined || second === undefined || third === undefined) return undefined
  if (first.length >= 3) return checked(Number(first), Number(second), Number(third))
  const year = fullYear(third)
  // 12/31/2003 is American; 31.12.2003 and 31/12/2003 are not, and neither is anything with dots.
  if (text.includes(`${first}/`) && Number(first) <= 12) return checked(year, Number(first), Number(second))
  if (third.length <= 2 && text.includes(`${first}-`)) {
    return checked(fullYear(first), Number(second), Number(third))
  }
  return checked(year, Number(second), Number(first))
}

function checked(year: number, month: number, day: number): readonly [number, number, number] | undefined {
  return year >= 100 && month >= 1 && month <= 12 && day >= 1 && day <= 31 ? [year, month, day] : undefined
}

function fullYear(digits: string): number {
  const year = Number(digits)
  return digits.length > 2 ? year : year + (year < 70 ? 2000 : 1900)
}

function monthIn(words: readonly string[]): number | undefined {
  for (const word of words) {
    if (word.length < 3) continue
    const found = MONTHS.find(([start]) => start.test(word))
    if (found !== undefined) return found[1]
  }
  return undefined
}

function zoneMinutes(text: string): number {
  const offset = OFFSET.exec(text)
  if (offset !== null) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3] ?? 0)
    return offset[1] === '-' ? -minutes : minutes
  }
  for (const [word] of text.matchAll(WORD)) {
    if (Object.hasOwn(ZONES, word)) return ZONES[word]!
  }
  return 0
}
