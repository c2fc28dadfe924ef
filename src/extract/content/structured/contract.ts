/** Structured data of a page: what it says about itself for machines. */

/** Structured data in each of the ways in which pages write it, and all of it in one form. */
export interface StructuredData {
  /**
   * Everything that the page says in JSON-LD, microdata and RDFa, in one form: items with types and properties. Items of
   * JSON-LD come first, then microdata, then RDFa.
   */
  readonly items: readonly StructuredItem[]
  /** The values of JSON-LD scripts as written, one for each value; `@graph` and `@context` are left in place. */
  readonly jsonLd: readonly JsonValue[]
  /** OpenGraph and similar properties (`og:title`, `article:author`, `product:price:amount`): their values in order. */
  readonly openGraph: MetaProperties
  /** Twitter cards: values by name, such as `twitter:card`. */
  readonly twitter: MetaProperties
  /** What could not be read, for people: JSON that is broken beyond repair, or more data than a page may have. */
  readonly problems: readonly string[]
}

/** Values by name, in the order of the page. */
export type MetaProperties = Readonly<Partial<Record<string, readonly string[]>>>

/** An item: a thing that the page describes. */
export interface StructuredItem {
  /** How the page wrote it. */
  readonly syntax: 'json-ld' | 'microdata' | 'rdfa'
  /** Types, without the address of schema.org: `Product`, `http://xmlns.com/foaf/0.1/Person`; empty if it has none. */
  readonly types: readonly string[]
  /** Its `@id`, `itemid` or `resource`; undefined if it has none. */
  readonly id: string | undefined
  /** Values by name, without the address of schema.org. An item that is only mentioned by its id has no properties. */
  readonly properties: Readonly<Partial<Record<string, readonly StructuredValue[]>>>
}

/** A value of a property. Numbers and booleans occur in JSON-LD only. */
export type StructuredValue = string | number | boolean | StructuredItem

/** A value of JSON. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject

/** An object of JSON. */
export interface JsonObject {
  readonly [name: string]: JsonValue
}
