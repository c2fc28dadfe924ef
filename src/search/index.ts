/** `kumo/search`: an index of documents, written and searched by this process, without a server. */

export type {
  FacetCount,
  FieldType,
  FieldValue,
  Filter,
  IndexSettings,
  IndexStats,
  IndexWriter,
  OpenOptions,
  SearchDocument,
  SearchHit,
  SearchIndex,
  SearchOptions,
  SearchResult,
  SearchSection,
  Segmenter,
  Snippet,
  StoredDocument,
  Suggestion,
  SuggestOptions,
  WriterOptions,
} from './contract.js'
export { openWriter } from './index/writer.js'
export { openIndex } from './open-index.js'
export { type SearchIndexOptions, searchIndex } from './search-index.js'
export { searchHandler } from './serve/handler.js'
