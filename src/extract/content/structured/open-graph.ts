/** OpenGraph and Twitter cards: `<meta property>` and `<meta name>`. */

import { owned } from '../../../owned.js'
import type { ContentElement } from '../tree.js'
import type { MetaProperties } from './contract.js'
import { PropertyBag } from './items.js'

/** Prefixes of OpenGraph's own vocabularies and of those that others added in the same way. */
const OPEN_GRAPH =
  /^(?:og|article|book|profile|video|music|product|fb|place|business|restaurant|books|game|website|al|ia):/i
const TWITTER = /^twitter:/i
const MOST_META = 5000

/** Names in full. */
const ADDRESS = /^https?:\/\/(?:www\.)?ogp\.me\/ns(?:\/(\w+))?#/i

/** Whether a name of a property is one of OpenGraph or Twitter. */
export function isOpenGraph(name: string): boolean {
  const first = shortened(name.trim())
  return OPEN_GRAPH.test(first) || TWITTER.test(first)
}

/** What the meta elements of a page say. Some pages write `name` instead of `property`; both are read. */
export function metaProperties(metas: readonly ContentElement[]): {
  openGraph: MetaProperties
  twitter: MetaProperties
} {
  const openGraph = new PropertyBag<string>()
  const twitter = new PropertyBag<string>()
  for (const meta of metas.slice(0, MOST_META)) {
    const content = meta.attribute('content')?.trim()
    if (!content) continue
    const names = new Set(`${meta.attribute('property') ?? ''} ${meta.attribute('name') ?? ''}`.split(/\s+/))
    for (const written of names) {
      const name = shortened(written)
      if (TWITTER.test(name)) twitter.add(name.toLowerCase(), owned(content))
      else if (OPEN_GRAPH.test(name)) openGraph.add(name.toLowerCase(), owned(content))
    }
  }
  return { openGraph: openGraph.properties, twitter: twitter.properties }
}

/** `http://ogp.me/ns#image` → `og:image`, `http://ogp.me/ns/article#tag` → `article:tag`. */
function shortened(name: string): string {
  return name.replace(ADDRESS, (_, vocabulary: string | undefined) => `${vocabulary ?? 'og'}:`)
}
