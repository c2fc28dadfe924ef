/** What an index consists of: checks the user's settings, and compares them with those of the index on disk. */

import { assertKeys, invalidOption, KumoError } from '../../errors.js'
import type { FieldType, IndexSettings, Segmenter } from '../contract.js'
import type { Schema } from '../segment/layout.js'
import { BUILT_IN_FIELDS, MOST_FIELDS } from '../segment/postings.js'
import { Analyzers } from '../words/analyzer.js'
import { STEMMED_LANGUAGES, stemmerOf } from '../words/stemmers.js'
import type { Settings } from './manifest.js'

const TYPES: readonly string[] = ['text', 'keyword', 'number', 'date'] satisfies FieldType[]
const NAME = /^[a-z][\w-]{0,63}$/i
/** What queries and filters already mean something else by. */
const TAKEN = new Set([
  ...BUILT_IN_FIELDS,
  'host',
  'language',
  'date',
  'site',
  'lang',
  'after',
  'before',
  'page',
  'none',
])

/** @throws KumoError `KUMO_INVALID_OPTION` */
export function checkSettings(option: string, { fields, stemming, segmenters }: IndexSettings): Settings {
  return {
    fields: checkFields(option, fields),
    stemming: checkStemming(option, stemming),
    segmenters: Object.keys(checkSegmenters(option, segmenters)).sort(),
  }
}

function checkFields(option: string, fields: IndexSettings['fields'] = {}): Record<string, FieldType> {
  const checked: [string, FieldType][] = []
  if (typeof fields !== 'object' || fields === null) throw invalidOption(`${option}.fields`, fields, FIELDS)
  for (const [name, type] of Object.entries(fields)) {
    if (!NAME.test(name) || TAKEN.has(name))
      throw invalidOption(
        `${option}.fields`,
        name,
        'a name of letters, digits and _ that Kumo does not use itself',
      )
    if (!TYPES.includes(type)) throw invalidOption(`${option}.fields.${name}`, type, TYPES.join(', '))
    checked.push([name, type])
  }
  const texts = checked.filter(([, type]) => type === 'text').length
  if (texts > MOST_FIELDS - BUILT_IN_FIELDS.length)
    throw invalidOption(
      `${option}.fields`,
      texts,
      `at most ${MOST_FIELDS - BUILT_IN_FIELDS.length} text fields`,
    )
  return Object.fromEntries(checked)
}

const FIELDS = "an object such as { price: 'number', tag: 'keyword' }"

function checkStemming(option: string, stemming: IndexSettings['stemming'] = false): string[] {
  if (stemming === true) return [...STEMMED_LANGUAGES].sort()
  if (stemming === false) return []
  const known = `true, false, or a list of ${STEMMED_LANGUAGES.join(', ')}`
  if (!Array.isArray(stemming)) throw invalidOption(`${option}.stemming`, stemming, known)
  for (const language of stemming)
    if (!STEMMED_LANGUAGES.includes(language)) throw invalidOption(`${option}.stemming`, language, known)
  return [...new Set(stemming as string[])].sort()
}

export function checkSegmenters(
  option: string,
  segmenters: Readonly<Record<string, Segmenter>> = {},
): Readonly<Record<string, Segmenter>> {
  assertKeys(`${option}.segmenters`, segmenters, Object.keys(segmenters ?? {}))
  for (const [language, segmenter] of Object.entries(segmenters)) {
    if (typeof segmenter !== 'function')
      throw invalidOption(
        `${option}.segmenters.${language}`,
        segmenter,
        'a function from a text to its words',
      )
  }
  return segmenters
}

/** @throws KumoError `KUMO_INDEX_MISMATCH` if the program asks for something else than the index is. */
export function compareSettings(folder: string, given: IndexSettings, asked: Settings, has: Settings): void {
  const differs = (one: unknown, other: unknown) => JSON.stringify(one) !== JSON.stringify(other)
  if (given.fields !== undefined && differs(sorted(asked.fields), sorted(has.fields)))
    throw mismatch(folder, 'fields', JSON.stringify(has.fields))
  if (given.stemming !== undefined && differs(asked.stemming, has.stemming))
    throw mismatch(folder, 'stemming', JSON.stringify(has.stemming))
  // Without its segmenters, an index would be read in another way than it was written.
  if (differs(asked.segmenters, has.segmenters))
    throw mismatch(folder, 'segmenters', has.segmenters.join(', ') || 'none')
}

function sorted(fields: object): [string, unknown][] {
  return Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1))
}

function mismatch(folder: string, name: string, has: string): KumoError {
  const message = `${folder} was created with ${name}: ${has}; pass the same, or index into another folder`
  return new KumoError('KUMO_INDEX_MISMATCH', message)
}

/** The columns of an index. */
export function schemaOf({ fields }: Settings): Schema {
  const named = (...types: FieldType[]) =>
    Object.entries(fields)
      .filter(([, type]) => types.includes(type))
      .map(([name]) => name)
  return {
    text: [...BUILT_IN_FIELDS, ...named('text')],
    keywords: ['host', 'language', ...named('keyword')],
    numbers: ['date', ...named('number', 'date')],
    dates: ['date', ...named('date')],
  }
}

/** @throws KumoError `KUMO_NOT_INSTALLED` if words are stemmed and the package for it is missing. */
export function analyzersOf(
  { stemming }: Settings,
  segmenters: Readonly<Record<string, Segmenter>>,
  languages: readonly string[],
): Analyzers {
  // A missing package is reported now, and not when the first page in one of its languages comes.
  for (const language of stemming) stemmerOf(language)
  return new Analyzers({ stemming: new Set(stemming), segmenters }, languages)
}
