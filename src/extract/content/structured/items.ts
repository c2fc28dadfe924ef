/** What the readers of microdata, RDFa and JSON-LD share. */

import { owned } from '../../../owned.js'
import type { ContentElement, ContentNode } from '../tree.js'
import type { StructuredItem, StructuredValue } from './contract.js'

/** Values per page: many times as many as pages have. */
const MOST_VALUES = 50_000
/** Code units of text to read for values, because elements with properties can be nested. */
const MOST_TEXT = 4 * 1024 * 1024
const LONGEST_TEXT = 2 ** 17
/** Elements to look at: `itemref` leads to the same ones again. */
const MOST_STEPS = 1_000_000
const SILENT = new Set(['script', 'style', 'template', 'noscript'])
const BLOCK = /^(?:p|div|h[1-6]|li|ul|ol|dl|dt|dd|br|tr|td|th|table|section|article|blockquote|pre|hr)$/

/** Bounds what is read of a page. */
export class Budget {
  #values = MOST_VALUES
  #text = MOST_TEXT
  #steps = MOST_STEPS

  /** Whether there is room for one more value. */
  takes(): boolean {
    return --this.#values >= 0
  }

  /** Whether another element may be looked at. */
  steps(): boolean {
    return --this.#steps >= 0 && this.#values >= 0
  }

  get isSpent(): boolean {
    return this.#values < 0 || this.#text < 0 || this.#steps < 0
  }

  /** The text of an element, with white space collapsed. */
  textOf(element: ContentElement): string {
    let text = ''
    const add = (node: ContentNode): void => {
      if (text.length > LONGEST_TEXT || this.#text < 0) return
      if (typeof node === 'string') {
        text += node
        this.#text -= node.length + 1
      } else if (!SILENT.has(node.tag)) {
        this.#text--
        const isBlock = BLOCK.test(node.tag)
        if (isBlock) text += ' '
        for (const child of node.children) add(child)
        if (isBlock) text += ' '
      }
    }
    for (const child of element.children) add(child)
    return owned(text.slice(0, LONGEST_TEXT).replace(/\s+/g, ' ').trim())
  }
}

/** Collects the values of properties. Names come from pages, so `__proto__` is one like any other. */
export class PropertyBag<Value = StructuredValue> {
  readonly properties: Record<string, Value[]> = Object.create(null) as Record<string, Value[]>

  add(name: string, value: Value): void {
    const values = this.properties[name]
    if (values === undefined) this.properties[owned(name)] = [value]
    else values.push(value)
  }
}

/** An item that is only mentioned. */
export function mention(syntax: StructuredItem['syntax'], id: string): StructuredItem {
  return { syntax, types: [], id, properties: Object.create(null) as StructuredItem['properties'] }
}
