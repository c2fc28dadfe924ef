/** `kumo/content`: the readable part of a page, for HTML that comes from elsewhere. Pages of a crawl have it as fields. */

export type {
  SelectedData,
  SelectedField,
  SelectedValue,
  SelectField,
  SelectFields,
  SelectOptions,
} from '../select/fields.js'
export type { DataIssue, InvalidDataError } from '../select/invalid-data.js'
export type { StandardIssue, StandardResult, StandardSchema } from '../select/standard-schema.js'
export { type DetectedLanguage, detectLanguage } from './language.js'
export { type ContentOptions, type MainContent, mainContent } from './main-content.js'
export type { AlternateLink, FeedLink, PageLanguage, PageMeta } from './meta/contract.js'
export { chunks, compareChunks } from './sections/chunks.js'
export type {
  Chunk,
  ChunkChanges,
  ChunkIdentity,
  ChunkOptions,
  PageSection,
} from './sections/contract.js'
export type {
  JsonObject,
  JsonValue,
  MetaProperties,
  StructuredData,
  StructuredItem,
  StructuredValue,
} from './structured/contract.js'
