/** From a document as the user gives it to one with every default filled in and every value checked. */

import { invalidOption, KumoError } from '../../errors.js'
import type { FieldValue, SearchDocument, SearchSection } from '../contract.js'
import type { PlainDocument, PlainSection } from '../segment/batch.js'
import type { Schema } from '../segment/layout.js'

/** Longest text of a section, in UTF-16 units: what is beyond is stored nowhere. */
const LONGEST_TEXT = 2 ** 24
const LONGEST_NAME = 2000
const LONGEST_KEYWORD = 500
const MOST_SECTIONS = 20_000

/** @throws KumoError `KUMO_INVALID_OPTION` */
export function plainDocument(document: SearchDocument, schema: Schema): PlainDocument {
  if (typeof document !== 'object' || document === null)
    throw invalidOption('put()', document, 'a document such as { url, title, text }')
  const { url, id = url, title = '', language, date, fields = {} } = document
  if (typeof url !== 'string' || url === '') throw invalidOption('put(): url', url, 'a URL')
  if (typeof id !== 'string' || id === '') throw invalidOption('put(): id', id, 'a string that is not empty')
  for (const name of Object.keys(fields)) checkField(name, schema)
  return {
    id,
    url,
    title: text(title, `title of ${url}`).slice(0, LONGEST_NAME),
    language: languageOf(language),
    date: instant(date, `date of ${url}`),
    host: hostOf(url),
    sections: sectionsOf(document),
    texts: schema.text.flatMap((name, field) => {
      const value = Object.hasOwn(fields, name) ? fields[name] : undefined
      return value === undefined || value === null
        ? []
        : [[field, String(value).slice(0, LONGEST_TEXT)] as const]
    }),
    keywords: schema.keywords.slice(2).map((name) => words(fields[name])),
    numbers: schema.numbers
      .slice(1)
      .map((name) =>
        schema.dates.includes(name)
          ? instant(fields[name], `${name} of ${url}`)
          : number(fields[name], name, url),
      ),
    fields: Object.keys(fields).length === 0 ? undefined : fields,
  }
}

function checkField(name: string, { text, keywords, numbers }: Schema): void {
  const own = [...text.slice(4), ...keywords.slice(2), ...numbers.slice(1)]
  if (own.includes(name)) return
  const message = `put(): the index has no field '${name}'; its own fields are: ${own.join(', ') || 'none'}`
  throw new KumoError('KUMO_INVALID_OPTION', message)
}

function sectionsOf({ url, sections, text: body, title = '' }: SearchDocument): PlainSection[] {
  if (sections === undefined || sections.length === 0)
    return [
      {
        anchor: '',
        heading: title,
        path: [],
        text: text(body ?? '', `text of ${url}`).slice(0, LONGEST_TEXT),
      },
    ]
  if (!Array.isArray(sections)) throw invalidOption(`put(): sections of ${url}`, sections, 'a list')
  return sections.slice(0, MOST_SECTIONS).map((section: SearchSection) => ({
    anchor: text(section.anchor ?? '', `anchor of ${url}`),
    heading: text(section.heading ?? '', `heading of ${url}`).slice(0, LONGEST_NAME),
    path: (section.path ?? []).map((each) => text(each, `path of ${url}`).slice(0, LONGEST_NAME)),
    text: text(section.text, `text of ${url}`).slice(0, LONGEST_TEXT),
  }))
}

function text(value: unknown, what: string): string {
  if (typeof value !== 'string') throw invalidOption(`put(): ${what}`, value, 'a string')
  return value
}

function words(value: FieldValue): string[] {
  if (value === undefined || value === null) return []
  const list = Array.isArray(value) ? value : [value]
  return [...new Set(list.map((each) => String(each).slice(0, LONGEST_KEYWORD)))]
}

function number(value: FieldValue, name: string, url: string): number | undefined {
  if (value === undefined || value === null) return undefined
  const found = typeof value === 'boolean' ? Number(value) : typeof value === 'string' ? Number(value) : value
  if (typeof found !== 'number' || !Number.isFinite(found))
    throw invalidOption(`put(): ${name} of ${url}`, value, 'a number')
  return found
}

/** Milliseconds since the epoch. @throws KumoError `KUMO_INVALID_OPTION` */
function instant(value: unknown, what: string): number | undefined {
  if (value === undefined || value === null) return undefined
  const ms = value instanceof Date ? value.getTime() : typeof value === 'string' ? Date.parse(value) : value
  if (typeof ms !== 'number' || !Number.isFinite(ms))
    throw invalidOption(`put(): ${what}`, value, 'ms since the epoch, a Date, or ISO 8601')
  return ms
}

/** The canonical tag; what is none is left out. */
function languageOf(tag: string | undefined): string | undefined {
  if (!tag) return undefined
  try {
    return Intl.getCanonicalLocales(tag)[0]?.split('-', 1)[0]
  } catch {
    return undefined
  }
}

/** Empty if the URL has none. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : ''
}
