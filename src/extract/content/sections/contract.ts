/** Sections of a page, and chunks of them. */

/** A heading with the text below it, up to the next heading. */
export interface PageSection {
  /** 1 to 6, as of `<h1>` to `<h6>`; 0 for the text before the first heading. */
  readonly level: number
  /** The text of the heading; for level 0, the title of the page. */
  readonly heading: string
  /** The anchor of the heading: `page.url#id` leads to it. Undefined if there is none. */
  readonly id: string | undefined
  /** The headings above this one, outermost first. */
  readonly path: readonly string[]
  /** One line per block, without the heading; `<pre>` keeps its lines. Empty if another heading follows at once. */
  readonly text: string
}

/** A part of a section, small enough for an index or a language model. */
export interface Chunk {
  /**
   * Identifies the chunk across visits: made from the page's id, the headings above it, and its number below them. Text
   * that is added elsewhere in the page does not change it.
   */
  readonly id: string
  /** 16 hexadecimal digits that change if the text or the headings do. */
  readonly digest: string
  /** The URL of the page, with the anchor of the section if it has one. */
  readonly url: string
  /** The heading of its section. */
  readonly heading: string
  /** The headings above that one, outermost first. */
  readonly path: readonly string[]
  readonly text: string
  /** Number of words in `text`. */
  readonly words: number
}

/** How to cut sections. */
export interface ChunkOptions {
  /** Most words of a chunk. Default 300. */
  readonly maxWords?: number | undefined
  /** Words at the end of a chunk that the next one of the same section repeats. Less than `maxWords`. Default 0. */
  readonly overlap?: number | undefined
}

/** What became of the chunks of a page. */
export interface ChunkChanges<Before extends ChunkIdentity = ChunkIdentity> {
  readonly new: readonly Chunk[]
  readonly changed: readonly Chunk[]
  readonly unchanged: readonly Chunk[]
  /** Chunks that were there before and are not any more. */
  readonly gone: readonly Before[]
}

/** What has to be kept of a chunk to compare it later. */
export interface ChunkIdentity {
  readonly id: string
  readonly digest: string
}
