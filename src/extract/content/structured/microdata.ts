/** Microdata, by the HTML Standard. */

import { owned } from '../../../owned.js'
import { type ContentElement, elementsIn } from '../tree.js'
import type { StructuredItem, StructuredValue } from './contract.js'
import { type Budget, PropertyBag } from './items.js'
import { shortName } from './names.js'

const URL_ATTRIBUTES: Readonly<Record<string, string>> = {
  a: 'href',
  area: 'href',
  link: 'href',
  audio: 'src',
  embed: 'src',
  iframe: 'src',
  img: 'src',
  source: 'src',
  track: 'src',
  video: 'src',
  object: 'data',
}
/** Items within items. */
const MOST_NESTING = 50

/** The top-level items of a page, in order. `resolve` makes URLs absolute. */
export function microdataItems(
  root: ContentElement,
  resolve: (url: string) => string,
  budget: Budget,
): StructuredItem[] {
  return new MicrodataReader(root, resolve, budget).run()
}

class MicrodataReader {
  /** Items that are being read: an item that contains itself is left out. */
  readonly #open = new Set<ContentElement>()
  #byId: Map<string, ContentElement> | undefined

  constructor(
    readonly root: ContentElement,
    readonly resolve: (url: string) => string,
    readonly budget: Budget,
  ) {}

  run(): StructuredItem[] {
    const items: StructuredItem[] = []
    for (const element of elementsIn(this.root)) {
      const isTop =
        element.attribute('itemscope') !== undefined && element.attribute('itemprop') === undefined
      if (isTop && this.budget.takes()) items.push(this.#item(element))
    }
    return items
  }

  #item(scope: ContentElement): StructuredItem {
    const bag = new PropertyBag()
    this.#open.add(scope)
    for (const child of scope.children) if (typeof child !== 'string') this.#properties(child, bag)
    const seen = new Set<string>()
    for (const id of words(scope.attribute('itemref'))) {
      if (seen.has(id) || this.budget.isSpent) continue
      seen.add(id)
      const referred = this.#element(id)
      if (referred && !this.#open.has(referred)) this.#properties(referred, bag)
    }
    this.#open.delete(scope)
    const id = scope.attribute('itemid')
    return {
      syntax: 'microdata',
      types: words(scope.attribute('itemtype')).map((type) => owned(shortName(type))),
      id: id === undefined ? undefined : owned(this.resolve(id)),
      properties: bag.properties,
    }
  }

  /** Properties of an element and of what is in it, as far as it belongs to the same item. */
  #properties(element: ContentElement, bag: PropertyBag): void {
    // Not a path down the tree: `itemref` leads anywhere, so each step counts.
    if (!this.budget.steps()) return
    const isItem = element.attribute('itemscope') !== undefined
    const names = words(element.attribute('itemprop'))
    if (names.length > 0) {
      const value = isItem ? this.#nested(element) : this.#value(element)
      if (value === undefined) return
      for (const name of names) if (this.budget.takes()) bag.add(shortName(name), value)
    }
    if (isItem) return
    for (const child of element.children) if (typeof child !== 'string') this.#properties(child, bag)
  }

  #nested(element: ContentElement): StructuredItem | undefined {
    return this.#open.has(element) || this.#open.size >= MOST_NESTING ? undefined : this.#item(element)
  }

  #value(element: ContentElement): StructuredValue {
    const { tag } = element
    // The standard has `content` for meta only; search engines read it everywhere.
    const content = element.attribute('content')
    if (content !== undefined || tag === 'meta') return owned((content ?? '').trim())
    // A field of a form, for schema.org's actions, in the short form that JSON-LD has for it.
    if (tag === 'input') {
      const name = element.attribute('name')
      const isRequired = element.attribute('required') !== undefined
      if (name !== undefined) return owned(isRequired ? `required name=${name}` : `name=${name}`)
    }
    const attribute = URL_ATTRIBUTES[tag]
    if (attribute !== undefined) {
      const url = element.attribute(attribute)
      if (url !== undefined) return owned(this.resolve(url))
      if (tag !== 'a' && tag !== 'object') return ''
    }
    if (tag === 'data' || tag === 'meter') {
      const value = element.attribute('value')
      if (value !== undefined) return owned(value)
    }
    const datetime = tag === 'time' ? element.attribute('datetime') : undefined
    return datetime === undefined ? this.budget.textOf(element) : owned(datetime)
  }

  #element(id: string): ContentElement | undefined {
    if (this.#byId === undefined) {
      this.#byId = new Map()
      for (const element of elementsIn(this.root)) {
        const own = element.attribute('id')
        if (own !== undefined && !this.#byId.has(own)) this.#byId.set(own, element)
      }
    }
    return this.#byId.get(id)
  }
}

function words(text: string | undefined): string[] {
  return text === undefined ? [] : text.split(/[\t\n\f\r ]+/).filter((word) => word !== '')
}
