/**
 * Finds the main content of a page: what a reader came for, without navigation, headers, footers, cookie banners, comments
 * and links to other pages.
 */

import { ContentElement, firstElement } from './tree.js'

const NOT_MAIN = new Set(['nav', 'header', 'footer', 'aside', 'script', 'style', 'template', 'noscript'])

/**
 * The main content of a page as a tree of its own: an element named `main` that contains copies of the elements that belong
 * to the content, in document order. Attributes and texts are shared with `document`, which stays as it is.
 */
export function mainTree(document: ContentElement): ContentElement {
  const main = new ContentElement('main', [])
  copyInto(main, firstElement(document, 'body') ?? document)
  return main
}

function copyInto(copy: ContentElement, from: ContentElement): void {
  for (const child of from.children) {
    if (typeof child === 'string') copy.children.push(child)
    else if (!NOT_MAIN.has(child.tag)) {
      const element = new ContentElement(child.tag, child.attributes)
      copy.append(element)
      copyInto(element, child)
    }
  }
}
