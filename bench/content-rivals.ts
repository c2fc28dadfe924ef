/** Main content and Markdown by Kumo, and by the packages that most programs use for it. */

import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import TurndownService from 'turndown'
import { mainContent } from '../src/extract/content/index.js'
import { buildTree } from '../src/extract/content/tree-builder.js'
import { readableTextOf } from '../src/extract/content/tree-text.js'

export interface Content {
  readonly text: string
  readonly markdown: string
}

export function kumoContent(html: string, url: string | undefined): Content {
  return mainContent(html, { url })
}

const turndown = new TurndownService({ codeBlockStyle: 'fenced', headingStyle: 'atx' })

/**
 * Turndown gets the element instead of its HTML, which saves parsing it again, and does without its plugin for tables, which
 * does not run on linkedom. The text is read only if it is asked for, with a line for each block: `textContent` joins the
 * last word of a paragraph with the first of the next.
 */
export function rivalContent(html: string): Content {
  const { document } = parseHTML(html)
  const article = new Readability(document, { serializer: (element) => element }).parse()
  const element = article?.content as unknown as HTMLElement | undefined
  const markdown = element ? turndown.turndown(element) : ''
  return {
    get text() {
      return element ? readableTextOf(buildTree(element.innerHTML, 'bench', 'bench')) : ''
    },
    markdown,
  }
}
