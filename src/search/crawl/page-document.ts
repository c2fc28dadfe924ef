/** From a page of a crawl to a document of an index. */

import { KumoError } from '../../errors.js'
import type { Page } from '../../extract/contract.js'
import type { MaybePromise } from '../../types.js'
import type { FieldValue, SearchDocument, SearchSection } from '../contract.js'

/** How documents are made of pages. */
export interface DocumentRules {
  readonly language: string | undefined
  /** Names of the index's own fields. */
  readonly fields: readonly string[]
  readonly document: ((page: Page<never>) => MaybePromise<SearchDocument | undefined>) | undefined
}

/** Whether a page belongs in an index. */
export function isForIndex(page: Page): boolean {
  return page.change !== 'gone' && !page.robots.noindex && !hasOtherCanonical(page)
}

export function documentOf(
  page: Page,
  { language, fields, document }: DocumentRules,
): MaybePromise<SearchDocument | undefined> {
  if (document !== undefined) return document(page as Page<never>)
  return {
    url: page.url,
    title: page.title,
    language: language ?? page.language.code,
    date: dateOf(page),
    sections: sectionsOf(page),
    fields: fieldsOf(page.data as Readonly<Record<string, unknown>>, fields),
  }
}

/** A copy of another page of its host, which is or will be indexed itself. */
function hasOtherCanonical({ url, canonical, host }: Page): boolean {
  return canonical !== undefined && canonical !== url && new URL(canonical).host === host
}

function sectionsOf(page: Page): SearchSection[] {
  try {
    return page.sections.map(({ id, heading, path, text }) => ({ anchor: id, heading, path, text }))
  } catch (error) {
    // Too large for a tree of its elements: its text can still be found.
    if (error instanceof KumoError && error.code === 'KUMO_NO_DOCUMENT')
      return [{ heading: page.title, text: page.text }]
    throw error
  }
}

/** When it was changed or published; a date that is none is left out. */
function dateOf(page: Page): string | undefined {
  let written: string | undefined
  try {
    written = page.meta.modified ?? page.meta.published
  } catch {
    return undefined
  }
  return written === undefined || Number.isNaN(Date.parse(written)) ? undefined : written
}

function fieldsOf(
  data: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, FieldValue> | undefined {
  const found = names.filter((name) => data[name] !== undefined && data[name] !== null)
  if (found.length === 0) return undefined
  return Object.fromEntries(found.map((name) => [name, data[name] as FieldValue]))
}
