/** Conditions on the fields of pages: from queries (`site:`, `lang:`, `after:`) and from options. */

import { invalidOption } from '../../errors.js'
import { parseW3cDate } from '../../time.js'
import type { Filter } from '../contract.js'
import type { Schema } from '../segment/layout.js'
import type { Segment } from '../segment/segment.js'
import { primary } from '../words/analyzer.js'
import type { Condition } from './parse.js'

/** Whether a page of a segment is wanted. */
export type PageTest = (page: number) => boolean
/** A condition, bound to the columns of a segment when it is asked. */
export type PageCondition = (segment: Segment) => PageTest

/** What a query asks of pages. Conditions that make no sense, such as `after:soon`, are left out. */
export function conditionsOf(conditions: readonly Condition[], schema: Schema): PageCondition[] {
  return conditions.flatMap(({ field, value, isExcluded }) => {
    const condition = conditionOf(field, value, schema)
    if (condition === undefined) return []
    return isExcluded ? not(condition) : condition
  })
}

function conditionOf(field: string, value: string, schema: Schema): PageCondition | undefined {
  if (field === 'site') return keyword('host', isSite(value))
  if (field === 'language') return keyword('language', (each) => each === primary(value))
  if (field === 'after' || field === 'before') {
    const at = parseW3cDate(value)
    if (at === undefined) return undefined
    return field === 'after' ? range('date', at, undefined) : range('date', undefined, at)
  }
  if (schema.keywords.includes(field)) {
    const wanted = value.toLowerCase()
    return keyword(field, (each) => each.toLowerCase() === wanted)
  }
  return numberCondition(field, value, schema)
}

/** `10`, `10..20`, `10..`, `..20`, `>10`, `<=20`. */
function numberCondition(field: string, value: string, schema: Schema): PageCondition | undefined {
  const read = (text: string) => (schema.dates.includes(field) ? parseW3cDate(text) : Number(text))
  const ends = value.includes('..') ? value.split('..', 2) : undefined
  const compared = /^([<>])(=?)(.+)$/.exec(value)
  if (ends !== undefined) {
    const [low, high] = ends.map((end) => (end === '' ? undefined : read(end)))
    return [low, high].some(Number.isNaN) ? undefined : range(field, low, high)
  }
  const [, sign, equals, text = value] = compared ?? []
  const number = read(text)
  if (number === undefined || Number.isNaN(number)) return undefined
  if (sign === undefined) return range(field, number, number)
  const step = equals === '=' ? 0 : Math.max(Number.MIN_VALUE, Math.abs(number) * Number.EPSILON)
  return sign === '>' ? range(field, number + step, undefined) : range(field, undefined, number - step)
}

/** @throws KumoError `KUMO_INVALID_OPTION` */
export function filtersOf(filters: Readonly<Record<string, Filter>>, schema: Schema): PageCondition[] {
  return Object.entries(filters).map(([field, filter]) => {
    if (schema.numbers.includes(field)) return numberFilter(field, filter, schema.dates.includes(field))
    if (!schema.keywords.includes(field))
      throw invalidOption('search().filters', field, [...schema.keywords, ...schema.numbers].join(', '))
    if (typeof filter === 'object' && !Array.isArray(filter))
      throw invalidOption(`search().filters.${field}`, filter, 'a word or a list of words')
    const wanted = new Set((Array.isArray(filter) ? filter : [filter]).map(String))
    return keyword(field, (value) => wanted.has(value))
  })
}

function numberFilter(field: string, filter: Filter, isDate: boolean): PageCondition {
  if (typeof filter === 'object' && filter !== null && !(filter instanceof Date) && !Array.isArray(filter)) {
    const { min, max } = filter as { min?: unknown; max?: unknown }
    return range(field, numberOf(field, min, isDate), numberOf(field, max, isDate))
  }
  const value = numberOf(field, filter, isDate)
  return range(field, value, value)
}

function numberOf(field: string, value: unknown, isDate: boolean): number | undefined {
  if (value === undefined) return undefined
  const number =
    value instanceof Date
      ? value.getTime()
      : typeof value === 'string' && isDate
        ? Date.parse(value)
        : value === null || value === ''
          ? Number.NaN
          : Number(value)
  if (Number.isNaN(number))
    throw invalidOption(`search().filters.${field}`, value, isDate ? 'a date' : 'a number')
  return number
}

function keyword(field: string, isWanted: (value: string) => boolean): PageCondition {
  return (segment) => {
    const column = segment.keywords(field)
    if (column === undefined) return () => false
    const wanted = Uint8Array.from(column.values, (value) => (isWanted(value) ? 1 : 0))
    return (page) => {
      for (const number of column.of(page)) if (wanted[number] === 1) return true
      return false
    }
  }
}

function range(
  field: string,
  low = Number.NEGATIVE_INFINITY,
  high = Number.POSITIVE_INFINITY,
): PageCondition {
  return (segment) => {
    const column = segment.numbers(field)
    // A page without a value has NaN, which is in no range.
    return (page) => column !== undefined && column[page]! >= low && column[page]! <= high
  }
}

function not(condition: PageCondition): PageCondition {
  return (segment) => {
    const test = condition(segment)
    return (page) => !test(page)
  }
}

/** The host or a subdomain of it; a leading `www.` and the port need not be written. */
function isSite(value: string): (host: string) => boolean {
  const wanted = value
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/\/.*$/, '')
  return (host) => {
    const name = wanted.includes(':') ? host : host.replace(/:\d+$/, '')
    return name === wanted || name.endsWith(`.${wanted}`)
  }
}
