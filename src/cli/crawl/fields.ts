/** What `--fields` can name: how a page and a failure fill each field. */

import type { Failure, Page } from '../../index.js'
import { closestWord } from '../closest-word.js'
import { UsageError } from '../usage-error.js'

/** A field with its value; undefined if a page or failure has none. */
export interface Field {
  readonly name: string
  readonly page: (page: Page) => unknown
  readonly failure: (failure: Failure) => unknown
}

type Filled = Omit<Field, 'name'>

const none = () => undefined

/** A field that only pages have. */
const ofPage = (page: (page: Page) => unknown): Filled => ({ page, failure: none })
/** A field that only failures have. */
const ofFailure = (failure: (failure: Failure) => unknown): Filled => ({ page: none, failure })
const ofBoth = (both: (result: Page | Failure) => unknown): Filled => ({ page: both, failure: both })

const FIELDS: Readonly<Record<string, Filled>> = {
  type: { page: () => 'page', failure: () => 'failure' },
  id: ofPage(({ id }) => id),
  url: ofBoth(({ url }) => url),
  host: ofPage(({ host }) => host),
  change: ofPage(({ change }) => change),
  status: ofBoth(({ status }) => status),
  title: ofPage(({ title }) => title),
  depth: ofBoth(({ depth }) => depth),
  parent: ofBoth(({ parent }) => parent),
  redirectedFrom: ofBoth(({ redirectedFrom }) => redirectedFrom),
  label: ofBoth(({ request }) => request.label),
  attempt: ofBoth(({ attempt }) => attempt),
  mediaType: ofPage(({ mediaType }) => mediaType),
  charset: ofPage(({ charset }) => charset),
  bytes: ofPage(({ wireBytes }) => wireBytes),
  fetchedAt: ofPage(({ fetchedAt }) => new Date(fetchedAt).toISOString()),
  fetchMs: ofPage(({ fetchMs }) => Math.round(fetchMs)),
  canonical: ofPage(({ canonical }) => canonical),
  links: ofPage(({ links }) => links.map(({ url }) => url)),
  text: ofPage(({ text }) => text),
  language: ofPage(({ language }) => language.code),
  main: ofPage(({ main }) => main),
  markdown: ofPage(({ markdown }) => markdown),
  code: ofFailure(({ code }) => code),
  message: ofFailure(({ message }) => message),
}

/** Families of fields, written as `headers.last-modified`. */
const FAMILIES: Readonly<Record<string, (member: string) => Filled>> = {
  headers: (name) => ofPage(({ headers }) => headers.get(name.toLowerCase())),
  meta(name) {
    if (!isMetaField(name))
      throw unknown(
        `meta.${name}`,
        META_FIELDS.map((each) => `meta.${each}`),
      )
    return ofPage(({ meta }) => meta[name])
  },
}

type MetaField = keyof Page['meta']
const META_FIELDS: readonly MetaField[] = Object.keys({
  description: true,
  author: true,
  published: true,
  modified: true,
  language: true,
  siteName: true,
  image: true,
  feeds: true,
  alternates: true,
  canonical: true,
} satisfies Record<MetaField, true>) as MetaField[]

function isMetaField(name: string): name is MetaField {
  return META_FIELDS.includes(name as MetaField)
}

const PAGE_FIELDS = 'type,id,url,change,status,title,depth,parent,label,mediaType,bytes,fetchedAt'
const FAILURE_FIELDS = 'type,url,status,code,message,attempt,depth,parent,label'
const ROW_FIELDS = 'type,url,status,title,depth,parent,mediaType,bytes,fetchedAt,code,message'
const FRONT_FIELDS = 'url,title,fetchedAt'

/** The fields if `--fields` is not given. In CSV every row has the same columns. */
export const DEFAULT_FIELDS = {
  page: readFields(PAGE_FIELDS),
  failure: readFields(FAILURE_FIELDS),
  row: readFields(ROW_FIELDS),
  frontMatter: readFields(FRONT_FIELDS),
}

/** @throws UsageError for a name that is not a field. */
export function readFields(list: string): readonly Field[] {
  return list.split(',').map((name) => fieldOf(name.trim()))
}

function fieldOf(name: string): Field {
  const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : memberOf(name)
  if (field !== undefined) return { name, ...field }
  throw unknown(name, [...Object.keys(FIELDS), ...Object.keys(FAMILIES).map((family) => `${family}.NAME`)])
}

function unknown(name: string, allowed: readonly string[]): UsageError {
  const meant = closestWord(name, allowed)
  const advice = meant === undefined ? `allowed: ${allowed.join(', ')}` : `did you mean ${meant}?`
  return new UsageError(`got '${name}'; ${advice}`)
}

function memberOf(name: string): Filled | undefined {
  const dot = name.indexOf('.')
  const family = name.slice(0, dot)
  if (dot < 0 || dot === name.length - 1 || !Object.hasOwn(FAMILIES, family)) return undefined
  return FAMILIES[family]!(name.slice(dot + 1))
}
