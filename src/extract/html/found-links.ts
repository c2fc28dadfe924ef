import type { Link } from '../../types.js'
import { fingerprintCodes } from '../../url/fingerprint.js'
import {
  type LinkReach,
  NOT_COMPARABLE,
  NOT_REMEMBERED,
  OF_PAGE,
  readLink,
  readLinkText,
} from '../../url/written-link.js'
import type { WrittenLinks } from '../contract.js'
import { GREATER_THAN } from './characters.js'
import type { Codes } from './codes.js'
import { anchorText, LONGEST_TEXT, labelText } from './link-text.js'
import { refreshUrl } from './meta-refresh.js'
import * as tags from './tag-names.js'
import { CONTENT, HREF, REL, SRC, type TagReader, XLINK_HREF } from './tag-reader.js'

/** Numbers stored per link: tag and end of the tag name, packed into one, then start and end of the link. */
const NUMBERS = 3
/** Tag numbers are below this. */
const TAGS = 32

/**
 * Positions found during a scan. All scans share one array, because growing a new one for every page costs twice its
 * size. It is replaced after a page with very many links.
 */
let notes: number[] = []
/** How many of them belong to the current page. The array is not truncated, which would free its memory. */
let noted = 0
const LONGEST_NOTES = 2 ** 14
/** Links kept per page: as many as a sitemap may have. Resolving one takes up to 2 µs. */
export const MOST_LINKS = 50_000

/** No character has more than four bytes. */
const MOST_TEXT_BYTES = 4 * LONGEST_TEXT

/** The `tag` of a refresh, which is not an element name. */
export const REFRESH = 'meta-refresh'
const NO_CODES = new Uint8Array(0)
/** Keeps the fingerprint of a tag from being that of a link. */
const SALT_OF_TAGS = 0x4c494e4b

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
 * The links of a page as positions in it. Most links also occurred on an earlier page, which their fingerprints show, so
 * that no string or object is created for them; a link that is accessed is read from its tag again.
 */
export class FoundLinks implements WrittenLinks {
  readonly #reader: TagReader | undefined
  readonly #codes: Codes
  #places: readonly number[]
  /** Links without a position: from XML, from a header and from extractors. */
  readonly #more: readonly Link[]
  /** How many of them come from the markup. */
  readonly #listed: number
  readonly #salt: number
  #isCut: boolean
  /** The link that was read last, and where its tag ends. */
  #readIndex = -1
  #readEnd = -1

  /**
   * @param salt Differs between pages on which the same text may lead to different URLs, because their encoding or
   * markup language differs.
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

  /** Links of markup that the scanner did not read. */
  static listed(links: readonly Link[], salt: number): FoundLinks {
    const kept = links.slice(0, MOST_LINKS)
    return new FoundLinks(undefined, NO_CODES, salt, [], kept, kept.length, kept.length < links.length)
  }

  /** Adds the link that the reader has just found in a tag whose name ends at `nameEnd`. */
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

  /** Call at the end of the page. */
  complete(): this {
    this.#places = notes.slice(0, noted)
    noted = 0
    if (notes.length > LONGEST_NOTES) notes = []
    return this
  }

  /** These links followed by others. */
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

  /** The links that do not come from the markup. */
  get added(): readonly Link[] {
    return this.#more.slice(this.#listed)
  }

  get isCut(): boolean {
    return this.#isCut
  }

  get length(): number {
    return this.#places.length / NUMBERS + this.#more.length
  }

  fingerprint(index: number, into: Uint32Array): LinkReach {
    const at = NUMBERS * index
    // Refreshes and links from extractors are not written as attributes, so their text must not be compared.
    if (at >= this.#places.length) return this.#fingerprintListed(index - this.#places.length / NUMBERS, into)
    const tag = this.#places[at]! % TAGS
    if (tag === tags.META) return NOT_COMPARABLE
    const reach = readLink(this.#codes, this.#places[at + 1]!, this.#places[at + 2]!, into)
    if (tag === tags.LINK) return this.#fingerprintTag(at, reach, into)
    into[0]! ^= this.#salt
    return reach
  }

  /** Where a `link` leads also depends on its `rel`, so its whole tag counts. */
  #fingerprintTag(at: number, reach: LinkReach, into: Uint32Array): LinkReach {
    if (reach === OF_PAGE) return NOT_REMEMBERED
    const codes = this.#codes
    let end = this.#places[at + 2]!
    while (end < codes.length && codes[end] !== GREATER_THAN) end++
    fingerprintCodes(codes, Math.floor(this.#places[at]! / TAGS), end, into)
    into[0]! ^= this.#salt ^ SALT_OF_TAGS
    return reach
  }

  #fingerprintListed(listed: number, into: Uint32Array): LinkReach {
    if (listed >= this.#listed) return NOT_COMPARABLE
    const { href, tag } = this.#more[listed]!
    if (tag === REFRESH) return NOT_COMPARABLE
    if (tag === 'link') return NOT_REMEMBERED
    const reach = readLinkText(href, into)
    into[0]! ^= this.#salt
    return reach
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
    this.#readEnd = reader.read(nameEnd, ATTRIBUTES[tag]!)
    this.#readIndex = index
    return { href: reader.link!, tag: TAG_NAMES[tag]!, rel: reader.rel }
  }

  /** The text of the link at this index; empty if its position is not known. */
  textAt(index: number): string {
    const at = NUMBERS * index
    if (at >= this.#places.length) return ''
    const { html, encoded } = this.#reader!
    const tag = this.#places[at]! % TAGS
    const nameEnd = Math.floor(this.#places[at]! / TAGS)
    // A tag may be long, and mostly it was just read.
    const tagEnd = this.#readIndex === index ? this.#readEnd : this.#reader!.skip(nameEnd)
    if (tag === tags.META || tagEnd === -1) return ''
    const isAnchor = tag === tags.A || tag === tags.SVG_A
    const next = this.#places[at + NUMBERS]
    const end = !isAnchor ? tagEnd : next === undefined ? html.length : Math.floor(next / TAGS)
    if (encoded === undefined) {
      return isAnchor ? anchorText(html, nameEnd, tagEnd, end) : labelText(html, nameEnd, tagEnd)
    }
    const ofTag = encoded.slice(nameEnd, tagEnd)
    if (!isAnchor) return labelText(ofTag, 0, ofTag.length)
    const text = ofTag + encoded.slice(tagEnd, Math.min(end, tagEnd + MOST_TEXT_BYTES))
    return anchorText(text, 0, ofTag.length, text.length)
  }

  *[Symbol.iterator](): Iterator<Link> {
    for (let i = 0; i < this.length; i++) yield this.at(i)
  }
}

/** The result of a scan. A class, not an object literal: see docs/decisions/0008. */
export class Scanned {
  constructor(
    readonly links: FoundLinks,
    readonly base: string | undefined,
    readonly rawTitle: string | undefined,
    readonly robots: string | undefined,
  ) {}
}
