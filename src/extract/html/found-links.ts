import type { Link } from '../../types.js'
import { fingerprint, fingerprintCodes } from '../../url/fingerprint.js'
import type { WrittenLinks } from '../contract.js'
import type { Codes } from './codes.js'
import { refreshUrl } from './meta-refresh.js'
import * as tags from './tag-names.js'
import { CONTENT, HREF, REL, SRC, type TagReader, XLINK_HREF } from './tag-reader.js'

/** Numbers kept for a link: its tag and where the tag's attributes begin, in one, and where the link stands. */
const NUMBERS = 3
/** Tags are numbered below this. */
const TAGS = 32

/**
 * Where places are noted while a page is scanned; one for all, because to let a new array grow for every page costs
 * twice its size. A page with very many links has it made anew.
 */
let notes: number[] = []
/** How many of them are this page's. The array is not cut to this: that would give its memory away. */
let noted = 0
const LONGEST_NOTES = 2 ** 14
/** Links kept of one page: as many as a sitemap may have. To resolve one takes up to 2 µs. */
export const MOST_LINKS = 50_000

/** The tag of a refresh, which is no name of an element. */
export const REFRESH = 'meta-refresh'
const NO_CODES = new Uint8Array(0)

const TAG_NAMES: Readonly<Record<number, string>> = {
  [tags.A]: 'a',
  [tags.AREA]: 'area',
  [tags.LINK]: 'link',
  [tags.FRAME]: 'frame',
  [tags.IFRAME]: 'iframe',
  [tags.SVG_A]: 'a',
}

const ATTRIBUTES: Readonly<Record<number, number>> = {
  [tags.A]: HREF | REL,
  [tags.AREA]: HREF | REL,
  [tags.LINK]: HREF | REL,
  [tags.FRAME]: SRC,
  [tags.IFRAME]: SRC,
  [tags.SVG_A]: HREF | XLINK_HREF | REL,
}

/**
 * The links of a page as places in it. Most are on the page before too, which their fingerprints tell, so that no
 * string and no object is made of them; one that is looked at is read from its tag once more.
 */
export class FoundLinks implements WrittenLinks {
  readonly #reader: TagReader | undefined
  readonly #codes: Codes
  #places: readonly number[]
  /** Those that are no places: of XML, of a header, and given by extractors. */
  readonly #more: readonly Link[]
  /** How many of them are of the markup. */
  readonly #listed: number
  readonly #salt: number
  #isCut: boolean

  /**
   * @param salt Different for pages on which one spelling may lead to different places, because they are written in other
   * charsets or languages of markup.
   */
  constructor(
    reader: TagReader | undefined,
    codes: Codes,
    salt = 0,
    places: readonly number[] = [],
    more: readonly Link[] = [],
    listed = 0,
    isCut = false,
  ) {
    this.#reader = reader
    this.#codes = codes
    this.#salt = salt
    this.#places = places
    this.#more = more
    this.#listed = listed
    this.#isCut = isCut
  }

  /** The links of markup that was not read by the scanner. */
  static listed(links: readonly Link[], salt: number): FoundLinks {
    const kept = links.slice(0, MOST_LINKS)
    return new FoundLinks(undefined, NO_CODES, salt, [], kept, kept.length, kept.length < links.length)
  }

  /** Takes the link that the reader has just found in a tag whose name ends at `nameEnd`. */
  push(tag: number, nameEnd: number): void {
    if (noted === NUMBERS * MOST_LINKS) {
      this.#isCut = true
      return
    }
    const { linkStart, linkEnd } = this.#reader!
    notes[noted] = nameEnd * TAGS + tag
    notes[noted + 1] = linkStart
    notes[noted + 2] = linkEnd
    noted += NUMBERS
  }

  /** The page is at its end. */
  complete(): this {
    this.#places = notes.slice(0, noted)
    noted = 0
    if (notes.length > LONGEST_NOTES) notes = []
    return this
  }

  /** These, and then others. */
  with(more: readonly Link[]): FoundLinks {
    return new FoundLinks(
      this.#reader,
      this.#codes,
      this.#salt,
      this.#places,
      [...this.#more, ...more],
      this.#listed,
      this.#isCut,
    )
  }

  /** Those that are not of the markup. */
  get added(): readonly Link[] {
    return this.#more.slice(this.#listed)
  }

  get isCut(): boolean {
    return this.#isCut
  }

  get length(): number {
    return this.#places.length / NUMBERS + this.#more.length
  }

  fingerprint(index: number, into: Uint32Array): boolean {
    const at = NUMBERS * index
    // What a refresh or an extractor says is not written as an attribute is, and may not pass for the same.
    if (at < this.#places.length) {
      if (this.#places[at]! % TAGS === tags.META) return false
      fingerprintCodes(this.#codes, this.#places[at + 1]!, this.#places[at + 2]!, into)
    } else {
      const listed = index - this.#places.length / NUMBERS
      if (listed >= this.#listed || this.#more[listed]!.tag === REFRESH) return false
      fingerprint(this.#more[listed]!.href, into)
    }
    into[0]! ^= this.#salt
    return true
  }

  at(index: number): Link {
    const at = NUMBERS * index
    if (at >= this.#places.length) return this.#more[index - this.#places.length / NUMBERS]!
    const reader = this.#reader!
    const tag = this.#places[at]! % TAGS
    const nameEnd = Math.floor(this.#places[at]! / TAGS)
    if (tag === tags.META) {
      reader.read(nameEnd, CONTENT)
      return { href: refreshUrl(reader.content!)!, tag: REFRESH, rel: undefined }
    }
    reader.read(nameEnd, ATTRIBUTES[tag]!)
    return { href: reader.link!, tag: TAG_NAMES[tag]!, rel: reader.rel }
  }

  *[Symbol.iterator](): Iterator<Link> {
    for (let i = 0; i < this.length; i++) yield this.at(i)
  }
}

/** What a scan found. A class and not a literal: see docs/decisions/0008. */
export class Scanned {
  constructor(
    readonly links: FoundLinks,
    readonly base: string | undefined,
    readonly rawTitle: string | undefined,
    readonly robots: string | undefined,
  ) {}
}
