/** `kumo/sinks`: writes the pages of a crawl to files, databases, search engines and web servers. */

export type {
  BatchOptions,
  DeadLetter,
  DeadLetterOptions,
  PageRecord,
  RejectedItem,
  Sink,
  SinkContext,
  SinkItem,
  SinkOptions,
  SinkRetryOptions,
  SinkStats,
} from './contract.js'
export { type PostgresOptions, postgres } from './databases/postgres.js'
export { type SqliteOptions, sqlite } from './databases/sqlite.js'
export type { DocumentSinkOptions } from './documents.js'
export { type CsvOptions, csv } from './files/csv.js'
export type { FileSinkOptions } from './files/file-sink.js'
export type { Compression } from './files/framing.js'
export { type JsonlOptions, jsonl } from './files/jsonl.js'
export { type DocumentRecord, type DocumentText, pageRecord } from './record.js'
export type { ByteSize } from './settings.js'
export type { SinkHook } from './sink.js'
export { sink } from './sink.js'
export { type MeilisearchOptions, meilisearch } from './web/meilisearch.js'
export { type OpenSearchOptions, opensearch } from './web/opensearch.js'
export { verifyWebhook } from './web/signature.js'
export { type WebhookOptions, webhook } from './web/webhook.js'
