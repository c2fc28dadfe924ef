/** `kumo/content`: the readable part of a page, for HTML that comes from elsewhere. Pages of a crawl have it as fields. */

export { type ContentOptions, type MainContent, mainContent } from './extract/content/main-content.js'
export type {
  SelectedData,
  SelectedField,
  SelectedValue,
  SelectField,
  SelectFields,
  SelectOptions,
} from './extract/select/fields.js'
export type { DataIssue, InvalidDataError } from './extract/select/invalid-data.js'
export type { StandardIssue, StandardResult, StandardSchema } from './extract/select/standard-schema.js'
