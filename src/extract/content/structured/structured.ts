/** Everything that a page says for machines, read from its tree. */

import { type ContentElement, elementsIn } from '../tree.js'
import type { StructuredData } from './contract.js'
import { Budget } from './items.js'
import { jsonLdItems, readJsonLd } from './json-ld.js'
import { microdataItems } from './microdata.js'
import { metaProperties } from './open-graph.js'
import { rdfaItems } from './rdfa.js'

/** Where the tree comes from. */
export interface StructuredPlace {
  /** The URL of the page. */
  readonly url: string
  /** The base URL of its links. */
  readonly base: string
}

/** The structured data of a page. */
export function structuredData(root: ContentElement, { url, base }: StructuredPlace): StructuredData {
  const problems: string[] = []
  const scripts: ContentElement[] = []
  const metas: ContentElement[] = []
  for (const element of elementsIn(root)) {
    if (element.tag === 'script') scripts.push(element)
    else if (element.tag === 'meta') metas.push(element)
  }
  const jsonLd = readJsonLd(scripts, problems)
  const budget = new Budget()
  // Not the canonical URL of the crawl: here, `#me` and `mailto:` count.
  const absolute = (href: string): string =>
    URL.canParse(href, base) ? new URL(href, base).href : href.trim()
  const items = [
    ...jsonLdItems(jsonLd, budget),
    ...microdataItems(root, absolute, budget),
    ...rdfaItems(root, url, absolute, budget),
  ]
  if (budget.isSpent) problems.push('The page has more structured data than is read')
  return { items, jsonLd, ...metaProperties(metas), problems }
}

/** Structured data of a page that is not markup. */
export const NO_STRUCTURED_DATA: StructuredData = Object.freeze({
  items: [],
  jsonLd: [],
  openGraph: {},
  twitter: {},
  problems: [],
})
