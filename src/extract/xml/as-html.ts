/**
 * Rewrites an XHTML page as HTML, for the DOM: linkedom's XML documents have no `head`, `body` or `title`, and programs
 * expect every `page.document` to be of the same kind.
 */

import { isVoid } from '../html/foreign-content.js'
import { XmlReader } from './reader.js'

const RAW_TEXT = new Set(['script', 'style'])
const CDATA = '<![CDATA['
const CDATA_END = ']]>'

/** Returns text that is not well-formed, or too long to be read to its end, as it is. */
export function xmlAsHtml(xml: string): string {
  const reader = new XmlReader(xml)
  const html: string[] = []
  let rawDepth = 0
  while (reader.next()) {
    const { kind, name, start, end } = reader
    const written = xml.slice(start, end)
    if (kind === 'cdata') {
      const text = written.slice(CDATA.length, -CDATA_END.length)
      html.push(rawDepth > 0 ? text : text.replaceAll('&', '&amp;').replaceAll('<', '&lt;'))
    } else if (kind === 'start' && reader.isEmpty && !isVoid(name)) {
      html.push(`${written.slice(0, -'/>'.length)}></${name}>`)
    } else if (kind === 'text' && rawDepth > 0) {
      html.push(reader.decode(written) ?? written)
    } else {
      html.push(written)
      if (RAW_TEXT.has(name) && kind === 'start') rawDepth++
      else if (RAW_TEXT.has(name) && kind === 'end') rawDepth--
    }
  }
  return reader.isWellFormed && reader.end === xml.length ? html.join('') : xml
}
