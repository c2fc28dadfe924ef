import { invalidOption, KumoError } from '../../../errors.js'
import type { Page } from '../../../extract/contract.js'
import { pageRecord } from '../record.js'
import type { SinkHook } from '../sink.js'
import { type FileSinkOptions, fileSink } from './file-sink.js'

/** Options of `jsonl()`. */
export interface JsonlOptions<Data extends object = object> extends FileSinkOptions {
  /** What is written for a page; undefined: nothing. Default: `pageRecord`. */
  readonly record?: ((page: Page<Data>) => object | undefined) | undefined
}

/**
 * Writes a line of JSON for each page to a file, or to several if `rotate` is given. With a durable store each page is in
 * it once, also after a crash; a page that is visited again is one more line.
 *
 * @example
 * const pages = jsonl('pages.jsonl', { record: ({ url, title, main }) => ({ url, title, main }) })
 * await new Crawler().seeds('https://example.com/').use(pages).run()
 */
export function jsonl<Data extends object = object>(
  path: string,
  options: JsonlOptions<Data> = {},
): SinkHook<Data> {
  const { record = pageRecord as (page: Page<Data>) => object, ...rest } = options
  if (typeof record !== 'function') throw invalidOption('jsonl.record', record, 'a function of a page')
  const line = (page: Page<Data>) => {
    const kept = record(page)
    if (kept === undefined) return undefined
    const json = JSON.stringify(kept)
    if (json !== undefined) return json
    throw new KumoError(
      'KUMO_CONTRACT_BROKEN',
      `jsonl.record returned something that JSON cannot represent for ${page.url}`,
    )
  }
  return fileSink(path, rest, { kind: 'jsonl', line, lineEnd: '\n' })
}
