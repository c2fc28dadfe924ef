/** The plainest sitemap: a text with one URL in each line. */

import { owned } from '../../owned.js'
import type { SitemapOutput } from './output.js'
import { LONGEST_VALUE } from './value.js'

const LINE_END = /\r\n?|\n/
/** The protocol asks for whole URLs; a text without them may be anything. */
const URL_LINE = /^https?:\/\/\S/i

export class ListSitemap {
  readonly #output: SitemapOutput
  /** The beginning of a line whose end is still to come. */
  #rest = ''
  /** The line is too long, and its beginning was dropped. */
  #dropping = false
  #any = false

  constructor(output: SitemapOutput) {
    this.#output = output
  }

  push(text: string): void {
    const lines = (this.#rest + text).split(LINE_END)
    this.#rest = lines.pop()!
    for (const line of lines) this.#line(line)
    if (this.#rest.length > LONGEST_VALUE) {
      this.#rest = ''
      this.#dropping = true
    }
  }

  /** The last line needs no line end, unless the text is `cut` off: then it may be half a URL. */
  end(cut: boolean): void {
    if (!cut) this.#line(this.#rest)
    if (!this.#any) this.#output.stop('not-a-sitemap')
  }

  #line(line: string): void {
    const url = line.trim()
    if (this.#dropping || url.length > LONGEST_VALUE) {
      this.#dropping = false
      this.#output.note('url-too-long')
    } else if (URL_LINE.test(url)) {
      this.#any = true
      this.#output.give({
        kind: 'page',
        url: owned(url),
        lastmod: undefined,
        changefreq: undefined,
        priority: undefined,
      })
    } else if (url !== '') this.#output.note('no-url')
  }
}
