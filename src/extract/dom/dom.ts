/** Builds the DOM of a page. Its strings are copies: a stored attribute does not keep the whole page in memory. */

import { owned } from '../../owned.js'
import { require } from '../../require.js'
import { completeDocument } from './complete-document.js'

/** linkedom's parser cuts every name, value and text out of the page with this method. */
interface Cutter {
  getSlice?(start: number, end: number): string
}

let isParsing = false
let isPatched = false

/** Parses HTML into a document. linkedom is loaded on first use. */
export function documentOf(html: string): Document {
  const { DOMParser } = require('linkedom') as typeof import('linkedom')
  if (!isPatched) patchParser(require('htmlparser2') as typeof import('htmlparser2'))
  isParsing = true
  try {
    // Not parseHTML(), which creates a window for each document: see docs/decisions/0004.
    const document = new DOMParser().parseFromString(html, 'text/html') as unknown as Document
    completeDocument(document)
    return document
  } finally {
    isParsing = false
  }
}

/**
 * linkedom has no hook between its parser and its nodes. So the parser itself is patched to return copies while it works
 * for Kumo, and behaves as usual for others. Patched once: a method replaced for every page would be recompiled each time.
 */
function patchParser({ Parser }: typeof import('htmlparser2')): void {
  isPatched = true
  const parser = Parser.prototype as unknown as Cutter
  const { getSlice } = parser
  if (getSlice === undefined) return
  parser.getSlice = function (start, end) {
    const slice = getSlice.call(this, start, end)
    return isParsing ? owned(slice) : slice
  }
}
