/**
 * Dates as sitemaps and feeds write them: the W3C's profile of ISO 8601 (`2024-05`,
 * `2024-05-06T07:08:09.5+02:00`) and RFC 822 (`Mon, 06 May 2024 07:08:09 GMT`), with the slips that are
 * common and cannot be misread.
 */

/** Longer than any date. What is longer is no date, and no pattern has to look at it. */
const LONGEST_DATE = 64

const W3C_TIME = /(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(z|[+-]\d\d(?::?\d\d)?)?/
const W3C = new RegExp(`^(\\d{4})(?:-(\\d\\d?)(?:-(\\d\\d?)(?:[t ]${W3C_TIME.source})?)?)?$`, 'i')
const RFC_822_DAY = /(?:[a-z]{2,9},? )?(\d\d?)[ -]([a-z]{3})[a-z]{0,6}[ -](\d{4}|\d\d)/
const RFC_822_TIME = /(\d\d?):(\d\d)(?::(\d\d))? ?([a-z]{1,3}|[+-]\d\d:?\d\d)/
const RFC_822 = new RegExp(`^${RFC_822_DAY.source} ${RFC_822_TIME.source}$`, 'i')

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** Hours from Greenwich; the names that RFC 822 gives. */
const ZONES = new Map(
  Object.entries({
    z: 0,
    ut: 0,
    utc: 0,
    gmt: 0,
    edt: -4,
    est: -5,
    cdt: -5,
    cst: -6,
    mdt: -6,
    mst: -7,
    pdt: -7,
    pst: -8,
  }),
)

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Instants are counted from here; what claims to be older is a default value such as 0001-01-01. */
const FIRST_YEAR = 1970
/** RFC 2822: two digits below this are a year of this century. */
const CENTURY_TURN = 50

/** An instant in ms since the epoch, or undefined if the text names none. */
export function dateOf(text: string): number | undefined {
  if (text.length > LONGEST_DATE) return undefined
  const w3c = W3C.exec(text)
  if (w3c !== null) {
    const [, year, month, day, hour, minute, second, fraction, zone] = w3c
    // A day without a zone is taken for one at Greenwich, and so is a time, whose zone many sitemaps leave
    // out.
    const ahead = zoneMs(zone ?? 'z')
    return instant(Number(year), Number(month ?? 1), Number(day ?? 1), hour, minute, second, ahead, fraction)
  }
  const rfc822 = RFC_822.exec(text.replace(/\s+/g, ' '))
  if (rfc822 === null) return undefined
  const [, day, month, year, hour, minute, second, zone] = rfc822
  const monthNumber = MONTHS.indexOf(month!.toLowerCase()) + 1
  return instant(fullYear(year!), monthNumber, Number(day), hour, minute, second, zoneMs(zone!), undefined)
}

function instant(
  year: number,
  month: number,
  day: number,
  hour = '0',
  minute = '0',
  second = '0',
  aheadMs: number | undefined,
  fraction = '0',
): number | undefined {
  if (aheadMs === undefined || year < FIRST_YEAR || month < 1 || month > 12) return undefined
  if (day < 1 || day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return undefined
  // A leap second is the first of the next minute, which is how `Date.UTC` counts it.
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined
  const ms = Math.floor(Number(`0.${fraction}`) * 1000)
  return Date.UTC(year, month - 1, day, Number(hour), Number(minute), Number(second), ms) - aheadMs
}

/** How far a zone is ahead of Greenwich; undefined for a name that is not known. */
function zoneMs(zone: string): number | undefined {
  const sign = zone[0] === '-' ? -1 : zone[0] === '+' ? 1 : undefined
  if (sign === undefined) {
    const hours = ZONES.get(zone.toLowerCase())
    return hours === undefined ? undefined : hours * HOUR_MS
  }
  return sign * (Number(zone.slice(1, 3)) * HOUR_MS + Number(zone.slice(3).replace(':', '')) * MINUTE_MS)
}

function fullYear(year: string): number {
  if (year.length === 4) return Number(year)
  return Number(year) + (Number(year) < CENTURY_TURN ? 2000 : 1900)
}
