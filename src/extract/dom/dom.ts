/** Builds the DOM of a page, of which no text keeps the page alive: an attribute that a user stores is that attribute. */

import { owned } from '../../owned.js'
import { require } from '../../require.js'
import { makeWhole } from './whole-document.js'

/** The parser of linkedom cuts every name, value and text out of the page by this method. */
interface Cutter {
  getSlice?(start: number, end: number): string
}

let isCutting = false
let isTaught = false

/** The document of some HTML. linkedom is loaded when the first one is wanted. */
export function documentOf(html: string): Document {
  const { DOMParser } = require('linkedom') as typeof import('linkedom')
  if (!isTaught) teachToCopy(require('htmlparser2') as typeof import('htmlparser2'))
  isCutting = true
  try {
    // Not parseHTML, which makes a window for each document: see docs/decisions/0004.
    const document = new DOMParser().parseFromString(html, 'text/html') as unknown as Document
    makeWhole(document)
    return document
  } finally {
    isCutting = false
  }
}

/**
 * linkedom lets nobody come between its parser and its nodes. So the parser itself gives copies while it works for us,
 * and does for others what it always did. Once for all: a method that came and went would be compiled for each page.
 */
function teachToCopy({ Parser }: typeof import('htmlparser2')): void {
  isTaught = true
  const parser = Parser.prototype as unknown as Cutter
  const { getSlice } = parser
  if (getSlice === undefined) return
  parser.getSlice = function (start, end) {
    const slice = getSlice.call(this, start, end)
    return isCutting ? owned(slice) : slice
  }
}
