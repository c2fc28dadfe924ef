/** The texts of links in a tree, for pages whose links are not found by position: XHTML. */

import { type ContentElement, elementsIn } from './tree.js'
import { readableTextOf } from './tree-text.js'

/** By link as written: the first text that a link to it has. */
export function linkTexts(root: ContentElement): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  for (const element of elementsIn(root)) {
    const href = element.attribute('href') ?? element.attribute('src')
    if (href === undefined || texts.has(href)) continue
    const text = element.tag === 'a' ? readableTextOf(element).replace(/\s+/g, ' ') : ''
    const best = text || imageText(element) || label(element)
    if (best !== '') texts.set(href, best)
  }
  return texts
}

function imageText(element: ContentElement): string {
  for (const each of elementsIn(element)) {
    const alt = each.attribute('alt')
    if (alt) return alt
  }
  return ''
}

function label(element: ContentElement): string {
  return element.attribute('aria-label') ?? element.attribute('title') ?? ''
}
