/** Checks the options of a search. Queries never throw; options are written by programs and do. */

import { assertKeys, invalidOption } from '../../errors.js'
import type { SearchOptions } from '../contract.js'
import type { Schema } from '../segment/layout.js'
import { BUILT_IN_FIELDS } from '../segment/postings.js'

const KEYS = [
  'limit',
  'offset',
  'facets',
  'groupBy',
  'filters',
  'sort',
  'highlight',
  'fuzzy',
  'prefix',
  'boosts',
  'freshness',
  'score',
  'perHost',
]
const MOST_HITS = 1000
const MOST_OFFSET = 100_000

/** Options with their defaults. */
export interface CheckedOptions {
  readonly limit: number
  readonly offset: number
  readonly facets: readonly string[]
  readonly groupBy: string
  readonly filters: NonNullable<SearchOptions['filters']>
  readonly sort: { readonly by: string; readonly isAscending: boolean } | undefined
  readonly highlight: boolean
  readonly fuzzy: boolean | 'auto'
  readonly prefix: boolean
  /** By number of the text field. */
  readonly weights: readonly (number | undefined)[]
  readonly freshness: { readonly halfLifeMs: number; readonly weight: number } | undefined
  readonly score: SearchOptions['score']
  readonly perHost: number
}

const DAY_MS = 86_400_000

/** @throws KumoError `KUMO_INVALID_OPTION` */
export function checkSearchOptions(options: SearchOptions, schema: Schema): CheckedOptions {
  assertKeys('search()', options, KEYS)
  const { facets = [], groupBy = 'page', filters = {}, boosts = {}, freshness, fuzzy = 'auto' } = options
  for (const facet of list('facets', facets)) oneOf('facets', facet, schema.keywords)
  oneOf('groupBy', groupBy, ['page', 'none', ...schema.keywords])
  for (const name of Object.keys(boosts)) oneOf('boosts', name, schema.text)
  if (fuzzy !== 'auto' && typeof fuzzy !== 'boolean')
    throw invalidOption('search().fuzzy', fuzzy, "true, false or 'auto'")
  return {
    limit: count('limit', options.limit, 10, MOST_HITS),
    offset: count('offset', options.offset, 0, MOST_OFFSET),
    facets,
    groupBy,
    filters,
    sort: sortOf(options.sort, schema),
    highlight: flag('highlight', options.highlight, true),
    fuzzy,
    prefix: flag('prefix', options.prefix, false),
    weights: schema.text.map((name) =>
      Object.hasOwn(boosts, name) ? number(`boosts.${name}`, boosts[name]) : undefined,
    ),
    freshness:
      freshness === undefined
        ? undefined
        : {
            halfLifeMs: number('freshness.halfLifeDays', freshness.halfLifeDays) * DAY_MS,
            weight: number('freshness.weight', freshness.weight ?? 1),
          },
    score: functionOf(options.score),
    perHost: count('perHost', options.perHost, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  }
}

function list(name: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw invalidOption(`search().${name}`, value, 'a list of fields')
  return value as string[]
}

function oneOf(name: string, value: string, allowed: readonly string[]): void {
  if (!allowed.includes(value)) throw invalidOption(`search().${name}`, value, allowed.join(', '))
}

function count(name: string, value: number | undefined, fallback: number, most: number): number {
  if (value === undefined) return fallback
  if (!Number.isSafeInteger(value) || value < 0 || value > most)
    throw invalidOption(`search().${name}`, value, `a whole number from 0 to ${most}`)
  return value
}

function number(name: string, value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0) || value === Number.POSITIVE_INFINITY)
    throw invalidOption(`search().${name}`, value, 'a number, 0 or more')
  return value
}

function flag(name: string, value: boolean | undefined, fallback: boolean): boolean {
  if (value === undefined) return fallback
  if (typeof value !== 'boolean') throw invalidOption(`search().${name}`, value, 'true or false')
  return value
}

function functionOf(value: SearchOptions['score']): SearchOptions['score'] {
  if (value !== undefined && typeof value !== 'function')
    throw invalidOption('search().score', value, 'a function from fields to a factor')
  return value
}

function sortOf(sort: SearchOptions['sort'], schema: Schema): CheckedOptions['sort'] {
  if (sort === undefined) return undefined
  const { by, order = 'descending' } = typeof sort === 'string' ? { by: sort } : sort
  oneOf('sort', by, schema.numbers)
  if (order !== 'ascending' && order !== 'descending')
    throw invalidOption('search().sort.order', order, "'ascending' or 'descending'")
  return { by, isAscending: order === 'ascending' }
}

/** The names that a query may use. */
export function queryNames({ text, keywords, numbers }: Schema) {
  return {
    text: [...BUILT_IN_FIELDS.filter((name) => name !== 'path'), ...text.slice(BUILT_IN_FIELDS.length)],
    values: [...keywords, ...numbers],
  }
}
