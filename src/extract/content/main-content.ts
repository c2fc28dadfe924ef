/** The main content of HTML that does not come from a crawl. */

import { KumoError } from '../../errors.js'
import { owned } from '../../owned.js'
import { findMain } from './main.js'
import { markdownOf } from './markdown/markdown.js'
import { type ContentElement, firstElement } from './tree.js'
import { buildTree } from './tree-builder.js'
import { readableTextWithout } from './tree-text.js'

/** How to read HTML. */
export interface ContentOptions {
  /**
   * The URL of the page. Links and images are resolved against it or against the page's `<base>`; without it they stay as
   * they are written.
   */
  readonly url?: string | undefined
}

/** The main content of a page. */
export interface MainContent {
  /** The running text, one line per block: what `page.main` is. */
  readonly text: string
  /** GitHub Flavored Markdown, with the title and images: what `page.markdown` is. */
  readonly markdown: string
}

/**
 * Finds the main content of an HTML page that was not fetched by a crawl.
 *
 * @throws KumoError `KUMO_INVALID_OPTION` if `html` is not a string or `url` is not an absolute URL, `KUMO_NO_DOCUMENT` if
 * the page is too large.
 * @example
 * import { mainContent } from 'kumo/content'
 *
 * const html = '<nav>Home</nav><main><h1>Tea</h1><p>Serve it <b>hot</b>.</p></main>'
 * console.log(mainContent(html).markdown) // '# Tea\n\nServe it **hot**.'
 */
export function mainContent(html: string, options: ContentOptions = {}): MainContent {
  if (typeof html !== 'string') {
    throw new KumoError('KUMO_INVALID_OPTION', `mainContent() takes HTML as a string, not ${typeof html}`)
  }
  const { url } = options
  if (url !== undefined && !URL.canParse(url)) {
    throw new KumoError(
      'KUMO_INVALID_OPTION',
      `mainContent(): url must be an absolute URL, not ${String(url)}`,
    )
  }
  const document = buildTree(html, 'mainContent()', url ?? 'the page')
  const { root, besides } = findMain(document)
  // Copies: what is kept of the content does not keep the page.
  return {
    text: owned(readableTextWithout(besides, root)),
    markdown: owned(markdownOf(root, baseOf(document, url))),
  }
}

function baseOf(document: ContentElement, url: string | undefined): string | undefined {
  const href = firstElement(document, 'base')?.attribute('href')
  if (href === undefined || !URL.canParse(href, url)) return url
  return new URL(href, url).href
}
