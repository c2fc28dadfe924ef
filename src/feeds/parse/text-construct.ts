/** The value of an element that may hold text, HTML, XHTML or base64, as Atom's `type` and `mode` say. */

import { isUtf8 } from 'node:buffer'
import type { Content } from './content.js'
import { withAbsoluteLinks } from './markup-links.js'
import type { References } from './references.js'

const WRAPPER = /^<(?:[\w-]+:)?div\b[^<>]*>([\s\S]*)<\/(?:[\w-]+:)?div\s*>$/i
const XHTML_DECLARATION =
  /\sxmlns(?::[\w-]+)?\s*=\s*(?:"http:\/\/www\.w3\.org\/1999\/xhtml"|'http:\/\/www\.w3\.org\/1999\/xhtml')/g
const PREFIX_DECLARATION = /\sxmlns:([\w-]+)\s*=\s*["']http:\/\/www\.w3\.org\/1999\/xhtml["']/g
const BASE64 = /^[A-Za-z\d+/\s]+={0,2}\s*$/

/** What the element says about its content. */
export interface Construct {
  /** In lower case; empty if it does not say. */
  readonly type: string
  readonly mode: string
  readonly base: string | undefined
  /** Prefixes of XHTML in this feed. */
  readonly xhtmlPrefixes: readonly string[]
}

export function constructValue(content: Content, construct: Construct, references: References): string {
  const { type, mode, base } = construct
  let { text } = content
  if (text === '') return ''
  if (mode === 'base64' || isBinary(type)) {
    const decoded = BASE64.test(text) ? Buffer.from(text, 'base64') : undefined
    if (decoded !== undefined && isUtf8(decoded)) return withAbsoluteLinks(decoded.toString().trim(), base)
    return mode === 'base64' || decoded !== undefined ? '' : text
  }
  if (content.isMarkup) {
    const prefixes = [...construct.xhtmlPrefixes, ...xhtmlPrefixesIn(text)]
    if (type === 'xhtml' || type === 'html') text = WRAPPER.exec(text)?.[1]?.trim() ?? text
    // The markup is escaped, in an element that should not be there.
    if (type === 'html' && !text.includes('<')) text = references.decode(text)
    text = withoutPrefixes(text, prefixes)
  } else if (type === 'text' || type === 'text/plain') return text
  return withAbsoluteLinks(text, base)
}

/** Media types whose content Atom wants in base64. */
function isBinary(type: string): boolean {
  return type.includes('/') && !/^text\/|[/+](?:xml|html|json)$/.test(type)
}

/** Prefixes of XHTML that the markup declares itself. */
function xhtmlPrefixesIn(markup: string): string[] {
  if (!markup.includes('1999/xhtml')) return []
  return [...markup.matchAll(PREFIX_DECLARATION)].map(([, prefix = '']) => prefix)
}

function withoutPrefixes(markup: string, prefixes: readonly string[]): string {
  let result = markup
  if (result.includes('1999/xhtml')) result = result.replace(XHTML_DECLARATION, '')
  for (const prefix of prefixes) {
    if (!result.includes(`<${prefix}:`)) continue
    result = result.replaceAll(`<${prefix}:`, '<').replaceAll(`</${prefix}:`, '</')
  }
  return result
}
