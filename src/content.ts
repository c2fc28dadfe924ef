/** `kumo/content`: the readable part of a page, for HTML that comes from elsewhere. Pages of a crawl have it as fields. */

export { type DetectedLanguage, detectLanguage } from './extract/content/language.js'
export { type ContentOptions, type MainContent, mainContent } from './extract/content/main-content.js'
export type { AlternateLink, FeedLink, PageLanguage, PageMeta } from './extract/content/meta/contract.js'
export { chunks, compareChunks } from './extract/content/sections/chunks.js'
export type {
  Chunk,
  ChunkChanges,
  ChunkIdentity,
  ChunkOptions,
  PageSection,
} from './extract/content/sections/contract.js'
export type {
  JsonObject,
  JsonValue,
  MetaProperties,
  StructuredData,
  StructuredItem,
  StructuredValue,
} from './extract/content/structured/contract.js'
