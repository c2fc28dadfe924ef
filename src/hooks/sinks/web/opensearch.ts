import { KumoError } from '../../../errors.js'
import type { RejectedItem } from '../contract.js'
import {
  type DocumentSinkOptions,
  documentMaker,
  isWithoutContent,
  lastOfEach,
  type PlacedItem,
} from '../documents.js'
import type { DocumentRecord } from '../record.js'
import { text } from '../settings.js'
import { type SinkHook, sink } from '../sink.js'
import { headersOf, isPassing, shownAnswer, WebClient, webAddress } from './client.js'

/** Options of `opensearch()`. */
export interface OpenSearchOptions extends DocumentSinkOptions {
  /** The index. It is created by the server if it is missing. Default `'pages'`. */
  readonly index?: string | undefined
  /** Sent with each request, for example `{ authorization: 'ApiKey …' }`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The part of the answer to `_bulk` that matters. */
interface BulkAnswer {
  readonly items?: readonly Readonly<Record<string, BulkResult>>[]
}
interface BulkResult {
  readonly status?: number
  readonly error?: { readonly type?: string; readonly reason?: string }
}

const NOT_FOUND = 404

/**
 * Keeps one document for each page in an index of OpenSearch or Elasticsearch, by their bulk API. Its `_id` is `page.id`.
 * A page that is gone is deleted; one that is unchanged keeps its content.
 *
 * @example
 * const index = opensearch('https://user:secret@search.example:9200', { index: 'docs' })
 * await new Crawler().seeds('https://example.com/').use(index).run()
 */
export function opensearch(url: string | URL, options: OpenSearchOptions = {}): SinkHook {
  const record = documentMaker('opensearch', options, ['index', 'headers'])
  const { index = 'pages', headers: given, ...rest } = options
  text('opensearch.index', index, 'the name of an index')
  const address = webAddress('opensearch', url)
  const headers = { ...address.headers, ...headersOf('opensearch.headers', given) }
  let client: WebClient | undefined
  return sink<DocumentRecord>({
    ...rest,
    name: `opensearch ${index}`,
    record,
    open({ clock }) {
      client = new WebClient('opensearch', address.base, headers, clock)
    },
    async write(batch) {
      const items = lastOfEach(batch)
      const body = items.map((item) => bulkLines(index, item)).join('')
      const answer = await client!.send('/_bulk', { body, type: 'application/x-ndjson' })
      if (answer.status !== 200) throw client!.refused(answer)
      return rejectedIn(items, JSON.parse(answer.body) as BulkAnswer)
    },
  })
}

function bulkLines(index: string, item: PlacedItem<DocumentRecord>): string {
  const target = { _index: index, _id: item.id }
  if (item.change === 'gone') return `${JSON.stringify({ delete: target })}\n`
  const { data, ...fields } = item.record
  if (isWithoutContent(item)) {
    const { status, change, fetchedAt } = fields
    const update = { doc: { status, change, fetchedAt } }
    return `${JSON.stringify({ update: target })}\n${JSON.stringify(update)}\n`
  }
  return `${JSON.stringify({ index: target })}\n${JSON.stringify({ ...fields, data: JSON.parse(data) })}\n`
}

/** Throws if the server could not take some of them now: the batch is then sent again, which changes nothing for the rest. */
function rejectedIn(
  items: readonly PlacedItem<DocumentRecord>[],
  { items: results }: BulkAnswer,
): RejectedItem[] {
  if (!Array.isArray(results) || results.length !== items.length)
    throw new KumoError('KUMO_SINK_FAILED', 'opensearch: the answer does not have a result for each page')
  const rejected: RejectedItem[] = []
  for (const [at, result] of results.entries()) {
    const [[action, { status = 0, error }] = ['', {} as BulkResult]] = Object.entries(result as object) as [
      [string, BulkResult],
    ]
    if (status >= 200 && status < 300) continue
    // A page that is not in the index need not be deleted, and has nothing to be updated.
    if (status === NOT_FOUND && (action === 'delete' || action === 'update')) continue
    const reason = shownAnswer(status, [error?.type, error?.reason].filter(Boolean).join(': '))
    if (isPassing(status) || status === 0) throw new KumoError('KUMO_SINK_FAILED', `opensearch: ${reason}`)
    rejected.push({ index: items[at]!.index, reason })
  }
  return rejected
}
