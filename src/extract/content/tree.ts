/**
 * A light tree of a page, for everything that is about its content: main content, Markdown, sections, metadata. It has
 * elements with their attributes, and texts as plain strings, already decoded. Scripts, styles and comments are left out,
 * except scripts with data (`application/ld+json`).
 *
 * linkedom's DOM is not used because it takes twenty times as long and grows faster than the page if elements are nested.
 */

/** A text, or an element. */
export type ContentNode = ContentElement | string

/** Names and values of attributes by turns: `['id', 'a', 'class', 'b c']`. */
export type Attributes = readonly string[]

/** An element. Consumers may replace `children` of elements that they made themselves, and change nothing else. */
export class ContentElement {
  /** The element around it; undefined for the root. */
  parent: ContentElement | undefined
  readonly children: ContentNode[] = []

  constructor(
    /** Name in lower case; `#document` for the root of a page. */
    readonly tag: string,
    readonly attributes: Attributes,
  ) {}

  /** The value of an attribute, whose name is in lower case; undefined if there is none. */
  attribute(name: string): string | undefined {
    const { attributes } = this
    for (let at = 0; at < attributes.length; at += 2) if (attributes[at] === name) return attributes[at + 1]
    return undefined
  }

  append(child: ContentElement): void {
    child.parent = this
    this.children.push(child)
  }
}

/** Elements of a tree, in document order, the given one first. */
export function* elementsIn(root: ContentElement): Generator<ContentElement, void, undefined> {
  const waiting = [root]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    yield next
    for (let at = next.children.length - 1; at >= 0; at--) {
      const child = next.children[at]!
      if (typeof child !== 'string') waiting.push(child)
    }
  }
}

/** The first element with this name, or undefined. */
export function firstElement(root: ContentElement, tag: string): ContentElement | undefined {
  for (const element of elementsIn(root)) if (element.tag === tag) return element
  return undefined
}

/** All text in an element, as written: white space is not collapsed. */
export function textIn(element: ContentElement): string {
  let text = ''
  for (const child of element.children) text += typeof child === 'string' ? child : textIn(child)
  return text
}
