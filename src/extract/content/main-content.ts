/** The main content of HTML that does not come from a crawl. */

import { KumoError } from '../../errors.js'
import { mainTree } from './main.js'
import { buildTree } from './tree-builder.js'
import { readableTextOf } from './tree-text.js'

/** How to read HTML. */
export interface ContentOptions {
  /** The URL of the page. Relative links and images are resolved against it, or against its `<base>`. */
  readonly url?: string | undefined
}

/** The main content of a page. */
export interface MainContent {
  /** One line per block. */
  readonly text: string
}

/**
 * Finds the main content of an HTML page: what `page.main` and `page.markdown` are for pages of a crawl.
 *
 * @throws KumoError `KUMO_INVALID_OPTION` if it is not given a string, `KUMO_NO_DOCUMENT` if the page is too large.
 * @example
 * import { mainContent } from 'kumo/content'
 *
 * const { text } = mainContent('<nav>Home</nav><main><h1>Tea</h1><p>Is hot.</p></main>')
 */
export function mainContent(html: string, options: ContentOptions = {}): MainContent {
  if (typeof html !== 'string') {
    throw new KumoError('KUMO_INVALID_OPTION', `mainContent() takes HTML as a string, not ${typeof html}`)
  }
  const main = mainTree(buildTree(html, 'mainContent()', options.url ?? 'the page'))
  return { text: readableTextOf(main) }
}
