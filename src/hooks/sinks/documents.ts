/** What sinks that keep one document for each page have in common. */

import { assertKeys, invalidOption } from '../../errors.js'
import type { Page } from '../../extract/contract.js'
import type { SinkItem, SinkOptions } from './contract.js'
import { DOCUMENT_TEXTS, type DocumentRecord, type DocumentText, documentOf } from './record.js'
import { SINK_KEYS } from './settings.js'

/** Options of sinks that keep one document for each page. */
export interface DocumentSinkOptions extends SinkOptions<DocumentRecord> {
  /** Which text is kept: the main content, all of it, or none. Default `'main'`. It is cut after a million characters. */
  readonly text?: DocumentText | undefined
}

/** Checks the options that all of them share, and returns how a page becomes a document. */
export function documentMaker(
  sink: string,
  options: DocumentSinkOptions,
  keys: readonly string[],
): (page: Page) => DocumentRecord {
  assertKeys(sink, options, [...SINK_KEYS, 'text', ...keys])
  const { text = 'main' } = options
  if (!DOCUMENT_TEXTS.includes(text)) throw invalidOption(`${sink}.text`, text, "'main', 'all' or 'none'")
  return (page) => documentOf(page, text)
}

/** A page of a batch with its place, for those that are rejected. */
export interface PlacedItem<Item> extends SinkItem<Item> {
  readonly index: number
}

/** The last item of each page: one statement cannot write a row twice. */
export function lastOfEach<Item>(batch: readonly SinkItem<Item>[]): PlacedItem<Item>[] {
  const last = new Map(batch.map((item, index) => [item.id, { ...item, index }]))
  return [...last.values()]
}

/** Whether the visit brought no content, so that what is kept of the page must stay. */
export function isWithoutContent({ change }: Pick<SinkItem, 'change'>): boolean {
  return change === 'unchanged' || change === 'gone'
}
