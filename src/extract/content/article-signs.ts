/**
 * Whether a page is an article: a text among links to other texts. On such pages lists of links are not content, on manuals
 * and indexes they are.
 */

import { saysByline } from './hints.js'
import { type ContentElement, elementsIn, textIn } from './tree.js'

/** Characters of a paragraph that is more than a label or a line of a footer. */
const LONG_PARAGRAPH = 80
const LEAST_PARAGRAPHS = 2
const ARTICLE_TYPE = /(?:Article|BlogPosting)$/
const ARTICLE_IN_JSON = /"@type"\s*:\s*\[?\s*"[A-Za-z]*(?:Article|BlogPosting)"/
/** Of a script: metadata starts with its types. */
const MOST_JSON = 20_000

export function isArticle(document: ContentElement, body: ContentElement): boolean {
  return declaresArticle(document) || looksLikeArticle(body)
}

/** OpenGraph, JSON-LD or microdata say so. */
function declaresArticle(document: ContentElement): boolean {
  for (const element of elementsIn(document)) {
    if (element.tag === 'meta') {
      const property = element.attribute('property') ?? element.attribute('name') ?? ''
      if (property.startsWith('article:')) return true
      if (property === 'og:type' && /article|blog/i.test(element.attribute('content') ?? '')) return true
    } else if (element.tag === 'script') {
      const [json] = element.children
      if (typeof json === 'string' && ARTICLE_IN_JSON.test(json.slice(0, MOST_JSON))) return true
    } else if (element.attributes.length > 0 && ARTICLE_TYPE.test(element.attribute('itemtype') ?? ''))
      return true
  }
  return false
}

/** Paragraphs, and none of what manuals have: code and definitions, or a marked main element without an author or date. */
function looksLikeArticle(body: ContentElement): boolean {
  let paragraphs = 0
  let isMarked = false
  let hasByline = false
  for (const element of elementsIn(body)) {
    const { tag } = element
    if (tag === 'pre' || tag === 'dl') return false
    if (tag === 'p' && paragraphs < LEAST_PARAGRAPHS && textIn(element).length > LONG_PARAGRAPH) paragraphs++
    if (tag === 'main') isMarked = true
    if (tag === 'time') hasByline = true
    const { attributes } = element
    for (let at = 0; at < attributes.length; at += 2) {
      const value = attributes[at + 1]!
      if (attributes[at] === 'role') isMarked ||= value === 'main'
      else if (attributes[at] === 'rel') hasByline ||= value === 'author'
      else if (attributes[at] === 'class') hasByline ||= saysByline(value)
    }
  }
  return paragraphs >= LEAST_PARAGRAPHS && (!isMarked || hasByline)
}
