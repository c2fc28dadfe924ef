/** Dates and times as pages write them, in ISO 8601. */

const ISO =
  /^(\d{4})-?(\d\d)-?(\d\d)(?:(?:[T ]|\s*T\s*)(\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?\s*(Z|UTC|GMT|[+-]\d\d:?\d\d|[+-]\d\d)?)?/i
const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const DAY_MONTH = /(\d{1,2})(?:st|nd|rd|th)?[\s-]+([a-z]{3})[a-z]*\.?,?[\s-]+(\d{4})/i
const MONTH_DAY = /([a-z]{3})[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})/i
const CLOCK = /(\d{1,2}):(\d\d)(?::(\d\d))?\s*(am|pm)?\s*(Z|UTC|GMT|[+-]\d\d:?\d\d)?/i

/**
 * A date or time in ISO 8601, or undefined if it is none. A time without a zone is taken as UTC.
 *
 * @example isoTime('Tue, 13 Dec 2016 12:35:52 +0100') // '2016-12-13T11:35:52.000Z'
 * @example isoTime('December 13, 2016') // '2016-12-13'
 */
export function isoTime(text: string): string | undefined {
  const written = text.trim().slice(0, 100)
  const iso = ISO.exec(written)
  if (iso !== null) {
    const [, year, month, day, hour, minute, second = '0', fraction = '', zone] = iso
    const ms = Number(fraction.padEnd(3, '0').slice(0, 3))
    return timeOf(
      [year, month, day].map(Number),
      hour === undefined ? undefined : [hour, minute, second].map(Number),
      ms,
      zone,
    )
  }
  const dayFirst = DAY_MONTH.exec(written)
  const monthFirst = dayFirst === null ? MONTH_DAY.exec(written) : null
  if (dayFirst === null && monthFirst === null) return undefined
  const [, day, name, year] = dayFirst ?? [undefined, monthFirst![2], monthFirst![1], monthFirst![3]]
  const month = MONTHS.indexOf(name!.toLowerCase()) + 1
  const clock = CLOCK.exec(written)
  return timeOf([Number(year), month, Number(day)], clock === null ? undefined : hours(clock), 0, clock?.[5])
}

function hours([, hour, minute, second = '0', half]: RegExpExecArray): number[] {
  const twelve =
    half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)
  return [twelve, Number(minute), Number(second)]
}

function timeOf(
  date: readonly number[],
  clock: readonly number[] | undefined,
  ms: number,
  zone?: string,
): string | undefined {
  const [year, month, day] = date as [number, number, number]
  const midnight = Date.UTC(year, month - 1, day)
  const check = new Date(midnight)
  if (year < 1000 || check.getUTCMonth() !== month - 1 || check.getUTCDate() !== day) return undefined
  if (clock === undefined) return check.toISOString().slice(0, 10)
  const [hour, minute, second] = clock as [number, number, number]
  if (hour > 24 || minute > 59 || second > 60) return undefined
  const time = midnight + ((hour * 60 + minute - offset(zone)) * 60 + second) * 1000 + ms
  return new Date(time).toISOString()
}

/** Minutes east of UTC. */
function offset(zone: string | undefined): number {
  const parts = /^([+-])(\d\d):?(\d\d)?$/.exec(zone ?? '')
  if (parts === null) return 0
  return (Number(parts[2]) * 60 + Number(parts[3] ?? 0)) * (parts[1] === '-' ? -1 : 1)
}
