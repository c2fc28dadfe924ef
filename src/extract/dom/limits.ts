/**
 * Decides whether a page may become a DOM. Building one takes about 5 µs per node, grows faster than the page if elements
 * are nested, and cannot be interrupted: 100,000 nested `<div>` elements would block the event loop for five seconds. So
 * the parser that builds the DOM first counts the nodes, and stops at a limit. That costs a tenth of the DOM, and next to
 * nothing on a page too small to exceed a limit.
 */

import { KumoError } from '../../errors.js'
import { require } from '../../require.js'

/** Nesting depth. Blink stops nesting here; pages written by people stay below 100. */
const MOST_DEPTH = 512
/**
 * Elements, attributes, texts and comments, each of which is an object in linkedom. The largest pages written by people
 * have about 50,000 elements with two or three of the others each. This many take linkedom about a second.
 */
const MOST_NODES = 250_000
/** UTF-16 units: the default body limit. It matters only if that limit is raised. */
const MOST_CHARACTERS = 8 * 1024 * 1024
/** A page of this size with at most `MOST_DEPTH` tags cannot exceed a limit: an attribute takes two characters. */
const SMALL = 2 * MOST_NODES

/** @throws KumoError `KUMO_NO_DOCUMENT` if the DOM of this page would be too expensive. */
export function rejectOversized(html: string, url: string): void {
  const bound = exceededLimit(html)
  if (bound === undefined) return
  const message = `page.document: ${url} has more than ${bound}, which is too large for a DOM; use page.links, page.text or page.body`
  throw new KumoError('KUMO_NO_DOCUMENT', message)
}

/** The limit that the page exceeds, in words. */
function exceededLimit(html: string): string | undefined {
  if (html.length > MOST_CHARACTERS) return `${MOST_CHARACTERS} characters`
  if (html.length <= SMALL && hasFewTags(html)) return undefined
  const { Parser } = require('htmlparser2') as typeof import('htmlparser2')
  const count = new NodeCount()
  try {
    // The same options as linkedom, so that the count matches what it would build.
    new Parser(count, { lowerCaseAttributeNames: false, decodeEntities: true }).end(html)
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error
    return error.bound
  }
  return undefined
}

function hasFewTags(html: string): boolean {
  let tags = 0
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at + 1)) {
    if (++tags > MOST_DEPTH) return false
  }
  return true
}

/** The only way to stop a parser that was given a whole page. */
class LimitExceeded {
  constructor(readonly bound: string) {}
}

/** Counts what the parser reports. */
class NodeCount {
  #depth = 0
  #nodes = 0

  onopentagname(): void {
    if (++this.#depth > MOST_DEPTH) throw new LimitExceeded(`${MOST_DEPTH} elements within each other`)
    this.#add()
  }

  onclosetag(): void {
    this.#depth--
  }

  onattribute(): void {
    this.#add()
  }

  ontext(): void {
    this.#add()
  }

  oncomment(): void {
    this.#add()
  }

  #add(): void {
    if (++this.#nodes > MOST_NODES) {
      throw new LimitExceeded(`${MOST_NODES} elements, attributes, texts and comments`)
    }
  }
}
