import type { Page } from '../../extract/contract.js'
import type { PageRecord } from './contract.js'

/**
 * What sinks keep of a page unless they are told otherwise.
 *
 * @example
 * jsonl('pages.jsonl', { record: (page) => ({ ...pageRecord(page), text: page.main }) })
 */
export function pageRecord(page: Page): PageRecord {
  return {
    id: page.id,
    url: page.url,
    status: page.status,
    change: page.change,
    fetchedAt: new Date(page.fetchedAt).toISOString(),
    mediaType: page.mediaType,
    title: page.title,
    depth: page.depth,
    parent: page.parent ?? null,
    data: page.data,
  }
}

/** A page as databases and search engines keep it. */
export interface DocumentRecord {
  readonly id: string
  readonly url: string
  readonly host: string
  readonly status: number
  readonly change: string
  readonly fetchedAt: string
  readonly mediaType: string
  readonly language: string
  readonly title: string
  readonly depth: number
  readonly parent: string
  readonly text: string
  /** JSON. */
  readonly data: string
}

/** Which text of a page is kept: its main content, all of it, or none. */
export type DocumentText = 'main' | 'all' | 'none'

export const DOCUMENT_TEXTS: readonly DocumentText[] = ['main', 'all', 'none']

/** Longer texts are cut: search engines and indexes of databases refuse fields of many megabytes. */
const LONGEST_TEXT = 1_000_000

/** What PostgreSQL refuses and search engines misread: NUL, and halves of surrogate pairs. */
function clean(text: string): string {
  return wellFormed(text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text)
}

const LONE_SURROGATE = /\p{Surrogate}/gu

function wellFormed(text: string): string {
  return text.replace(LONE_SURROGATE, '\uFFFD')
}

/** NUL as JSON writes it, unless its backslash is itself escaped. */
const JSON_NUL = /(?<!\\)((?:\\\\)*)\\u0000/g

export function documentOf(page: Page, text: DocumentText): DocumentRecord {
  const hasBody = page.body.length > 0
  return {
    id: page.id,
    url: clean(page.url),
    host: clean(page.host),
    status: page.status,
    change: page.change,
    fetchedAt: new Date(page.fetchedAt).toISOString(),
    mediaType: clean(page.mediaType),
    language: hasBody && text !== 'none' ? (page.language.code ?? '') : '',
    title: cut(clean(page.title)),
    depth: page.depth,
    parent: clean(page.parent ?? ''),
    text: cut(clean(hasBody ? textOf(page, text) : '')),
    data: jsonOf(page.data),
  }
}

/** The cut may be in the middle of a surrogate pair. */
function cut(text: string): string {
  return text.length > LONGEST_TEXT ? wellFormed(text.slice(0, LONGEST_TEXT)) : text
}

function textOf(page: Page, text: DocumentText): string {
  if (text === 'none') return ''
  return text === 'main' ? page.main : page.text
}

/** JSON that every database accepts. */
export function jsonOf(data: unknown): string {
  const json = JSON.stringify(data, (_, value) => (typeof value === 'string' ? wellFormed(value) : value))
  return json === undefined ? 'null' : json.replace(JSON_NUL, '$1\\ufffd')
}
