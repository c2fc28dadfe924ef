/** What a page says about itself in its head, its structured data and its headers. */

/** Facts about a page. */
export interface PageMeta {
  readonly description: string | undefined
  /** Names of the authors, separated by commas. */
  readonly author: string | undefined
  /**
   * When it was published, in ISO 8601: `2024-05-01T10:00:00.000Z`, or `2024-05-01` if the page gives no time. A time
   * without a zone is taken as UTC. A string because it can be stored, sorted and sent; `new Date(published)` is its date.
   */
  readonly published: string | undefined
  /** When it was last modified, in the same form. */
  readonly modified: string | undefined
  /** The language that it declares, as a BCP 47 tag; `page.language` also looks at the text. */
  readonly language: string | undefined
  readonly siteName: string | undefined
  /** URL of the image that stands for the page. */
  readonly image: string | undefined
  /** RSS, Atom and JSON feeds. */
  readonly feeds: readonly FeedLink[]
  /** The same page in other languages (`hreflang`). */
  readonly alternates: readonly AlternateLink[]
  /** `page.canonical`. */
  readonly canonical: string | undefined
}

/** A link to a feed. */
export interface FeedLink {
  readonly url: string
  /** Media type, such as `application/rss+xml`. */
  readonly type: string
  readonly title: string | undefined
}

/** A link to the same page in another language. */
export interface AlternateLink {
  /** As written: a BCP 47 tag, or `x-default`. */
  readonly language: string
  readonly url: string
}

/** The language of a page. */
export interface PageLanguage {
  /**
   * What the page is in, as in BCP 47, without region: `en`, `ja`. The declared language, unless the text clearly is in
   * another one; undefined if nothing is declared and the text is too short to say.
   */
  readonly code: string | undefined
  /** 0 to 1: how sure `code` is. */
  readonly confidence: number
  /** The tag that the page declares: in `<html lang>`, the Content-Language header, or meta elements. */
  readonly declared: string | undefined
  /** The language of the text; undefined if it is too short to say. */
  readonly detected: string | undefined
}
