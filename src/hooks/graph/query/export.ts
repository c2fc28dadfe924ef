/** A graph as text for other tools, in pieces. */

import type { GraphFormat } from '../contract.js'

export interface ExportedLink {
  readonly from: string
  readonly to: string
  readonly text: string
  readonly nofollow: boolean
}

export async function* exportLinks(
  format: GraphFormat,
  urls: AsyncIterable<string>,
  links: AsyncIterable<ExportedLink>,
): AsyncGenerator<string> {
  if (format === 'csv') {
    yield 'from,to,text,nofollow\r\n'
    for await (const { from, to, text, nofollow } of links)
      yield `${[from, to, text, nofollow ? 'true' : 'false'].map(quoted).join(',')}\r\n`
    return
  }
  if (format === 'dot') {
    yield 'digraph links {\n'
    for await (const { from, to } of links) yield `  ${JSON.stringify(from)} -> ${JSON.stringify(to)}\n`
    yield '}\n'
    return
  }
  yield GRAPHML_HEAD
  for await (const url of urls) yield `<node id="${escaped(url)}"/>\n`
  for await (const { from, to, text, nofollow } of links) {
    const data = `${text === '' ? '' : `<data key="text">${escaped(text)}</data>`}${nofollow ? '<data key="nofollow">true</data>' : ''}`
    yield `<edge source="${escaped(from)}" target="${escaped(to)}">${data}</edge>\n`
  }
  yield '</graph>\n</graphml>\n'
}

const GRAPHML_HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="text" for="edge" attr.name="text" attr.type="string"/>
<key id="nofollow" for="edge" attr.name="nofollow" attr.type="boolean"/>
<graph edgedefault="directed">
`

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** XML allows no control characters and no halves of surrogate pairs. */
function escaped(text: string): string {
  return text
    .replace(/[&<>"]/g, (character) => ENTITIES[character]!)
    .replace(/[\p{Cc}\ufffe\uffff]|\p{Surrogate}/gu, ' ')
}
