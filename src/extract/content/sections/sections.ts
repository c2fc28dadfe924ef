/** Cuts the main content of a page at its headings. */

import { owned } from '../../../owned.js'
import { ContentElement, elementsIn } from '../tree.js'
import { isSilent, readableTextOf, readableTextWithout } from '../tree-text.js'
import { anchorOf, anchorsIn, isPermalink } from './anchors.js'
import type { PageSection } from './contract.js'

/** Sections per page: many times as many as the longest pages have. Further headings are text. */
const MOST_SECTIONS = 5000
/** Headings of the page to look at for one of the main content, because those outside it lie between. */
const MOST_SKIPPED = 200

/**
 * The sections of the main content, in document order.
 *
 * @param document The tree of the page, which has the anchors around headings.
 * @param main The tree of the main content: copies of elements of the page.
 * @param title The heading of the text before the first heading.
 */
export function sectionsOf(document: ContentElement, main: ContentElement, title: string): PageSection[] {
  return new SectionReader(document, title).run(main)
}

/** The only section of a page that is not markup. */
export function wholeText(title: string, text: string): PageSection[] {
  return text.trim() === '' ? [] : [{ level: 0, heading: title, id: undefined, path: [], text }]
}

/** A section that is being read: its text is a tree with the elements that the section has of the page. */
interface OpenSection {
  readonly level: number
  readonly heading: string
  readonly id: string | undefined
  readonly path: readonly string[]
  readonly root: ContentElement
}

class SectionReader {
  readonly #sections: PageSection[] = []
  /** The headings above, outermost first, with their levels. */
  readonly #above: { readonly level: number; readonly heading: string }[] = []
  #open: OpenSection
  /** Elements around the position, and their copies in the open section as far as they exist. */
  readonly #path: { readonly element: ContentElement; copy: ContentElement | undefined }[] = []

  readonly #anchors: ReadonlySet<string>
  /** Headings of the page that come after the last one that was found in the main content. */
  readonly #originals: ContentElement[]
  #next = 0

  constructor(document: ContentElement, title: string) {
    this.#anchors = anchorsIn(document)
    this.#originals = [...elementsIn(document)].filter((element) => levelOf(element) !== undefined)
    this.#open = { level: 0, heading: title, id: undefined, path: [], root: new ContentElement('main', []) }
  }

  run(main: ContentElement): PageSection[] {
    this.#children(main)
    this.#close()
    return this.#sections
  }

  #children(element: ContentElement): void {
    for (const child of element.children) {
      if (typeof child === 'string') this.#here().children.push(child)
      else this.#element(child)
    }
  }

  #element(element: ContentElement): void {
    if (isSilent(element.tag)) return
    const level = levelOf(element)
    if (level !== undefined && this.#sections.length < MOST_SECTIONS && this.#begin(element, level)) return
    this.#path.push({ element, copy: undefined })
    // An element without text may still end a line.
    if (element.children.length === 0) this.#here()
    else this.#children(element)
    this.#path.pop()
  }

  /** The copy of the innermost element in the open section. */
  #here(): ContentElement {
    let from = this.#path.length
    while (from > 0 && this.#path[from - 1]!.copy === undefined) from--
    let here = from === 0 ? this.#open.root : this.#path[from - 1]!.copy!
    for (const entry of this.#path.slice(from)) {
      const copy = new ContentElement(entry.element.tag, entry.element.attributes)
      here.append(copy)
      entry.copy = copy
      here = copy
    }
    return here
  }

  /** Returns false if the heading has no text: it is left out. */
  #begin(element: ContentElement, level: number): boolean {
    const heading = headingText(element)
    if (heading === '') return false
    this.#close()
    while (this.#above.length > 0 && this.#above.at(-1)!.level >= level) this.#above.pop()
    const path = this.#above.map((each) => each.heading)
    const id = anchorOf(this.#original(element, heading), this.#anchors)
    this.#above.push({ level, heading })
    const root = new ContentElement('main', [])
    this.#open = { level, heading, id: id === undefined ? undefined : owned(id), path, root }
    for (const entry of this.#path) entry.copy = undefined
    return true
  }

  /** The heading of the page that a heading of the main content is a copy of. */
  #original(copy: ContentElement, heading: string): ContentElement {
    for (let at = this.#next; at < Math.min(this.#originals.length, this.#next + MOST_SKIPPED); at++) {
      const original = this.#originals[at]!
      // Copies share their attributes with the original.
      if (original.tag !== copy.tag || original.attributes !== copy.attributes) continue
      if (headingText(original) !== heading) continue
      this.#next = at + 1
      return original
    }
    return copy
  }

  #close(): void {
    const { root, ...section } = this.#open
    const text = owned(readableTextOf(root))
    if (section.level > 0 || text !== '') this.#sections.push({ ...section, text })
  }
}

function levelOf(element: ContentElement): number | undefined {
  const { tag } = element
  if (tag.length === 2 && tag[0] === 'h' && tag[1]! >= '1' && tag[1]! <= '6') return Number(tag[1])
  if (element.attribute('role') !== 'heading') return undefined
  const level = Number(element.attribute('aria-level') ?? 2)
  return level >= 1 && level <= 6 ? Math.floor(level) : 6
}

function headingText(element: ContentElement): string {
  const permalinks = new Set<ContentElement>()
  for (const child of element.children)
    if (typeof child !== 'string' && isPermalink(child)) permalinks.add(child)
  return owned(readableTextWithout(permalinks, element).replace(/\s+/g, ' ').trim())
}
