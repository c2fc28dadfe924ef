/** The table that SQL databases keep: one row for each page. */

import { invalidOption } from '../../../errors.js'
import type { DocumentRecord } from '../record.js'

/** Columns in order, with the field that they keep. */
export const COLUMNS = [
  ['id', 'id'],
  ['url', 'url'],
  ['host', 'host'],
  ['status', 'status'],
  ['change', 'change'],
  ['fetched_at', 'fetchedAt'],
  ['media_type', 'mediaType'],
  ['language', 'language'],
  ['title', 'title'],
  ['depth', 'depth'],
  ['parent', 'parent'],
  ['text', 'text'],
  ['data', 'data'],
] as const satisfies readonly (readonly [column: string, field: keyof DocumentRecord])[]

/** What a visit without content says: the page is unchanged or gone. */
const OF_EVERY_VISIT: readonly string[] = ['status', 'change', 'fetched_at']

/** The part after `ON CONFLICT (id) DO UPDATE SET`: what the page was stays if the visit brought no content. */
export function updates(table: string): string {
  return COLUMNS.map(([column]) => column)
    .filter((column) => column !== 'id')
    .map((column) => {
      if (OF_EVERY_VISIT.includes(column)) return `${column} = excluded.${column}`
      return `${column} = CASE WHEN excluded.change IN ('unchanged', 'gone') THEN ${table}.${column} ELSE excluded.${column} END`
    })
    .join(', ')
}

const PLAIN_NAME = /^[\p{L}_][\p{L}\p{N}_$]{0,62}$/u

/** A quoted name, `schema.table` included. */
export function tableName(option: string, value: unknown): string {
  const parts = typeof value === 'string' ? value.split('.') : []
  if (parts.length < 1 || parts.length > 2 || !parts.every((part) => PLAIN_NAME.test(part)))
    throw invalidOption(option, value, "the name of a table such as 'pages' or 'crawl.pages'")
  return parts.map((part) => `"${part}"`).join('.')
}
