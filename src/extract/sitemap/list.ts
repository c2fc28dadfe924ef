/** The simplest sitemap: text with one URL per line. */

import { owned } from '../../owned.js'
import type { SitemapOutput } from './output.js'
import { LONGEST_VALUE } from './value.js'

const LINE_END = /\r\n?|\n/
/** The protocol requires absolute URLs; text without them may be anything. */
const URL_LINE = /^https?:\/\/\S/i

export class ListSitemap {
  readonly #output: SitemapOutput
  /** The start of an incomplete line. */
  #rest = ''
  /** The current line is too long, and its start was dropped. */
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
      this.#output.add({
        kind: 'page',
        url: owned(url),
        lastmod: undefined,
        changefreq: undefined,
        priority: undefined,
      })
    } else if (url !== '') this.#output.note('no-url')
  }
}
