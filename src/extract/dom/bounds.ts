/**
 * Decides whether a page may become a DOM. Building one takes some 5 µs a node and grows faster than the page where
 * elements nest, and nothing can interrupt it: 100,000 nested `<div>` would hold the loop for five seconds. So the
 * markup is counted first, by the parser that the DOM is built with, and counting ends where a bound is passed. It
 * costs a tenth of the DOM, and nothing worth measuring on a page too small to pass any bound.
 */

import { KumoError } from '../../errors.js'
import { require } from '../../require.js'

/** Elements within elements. Blink stops nesting there; pages written for people stay below 100. */
const MOST_DEPTH = 512
/**
 * Elements, attributes, texts and comments: what linkedom makes an object of. The largest pages written for people
 * have some 50,000 elements with two or three of the others each. So many take linkedom about a second.
 */
const MOST_NODES = 250_000
/** UTF-16 units; as much as the default body limit lets through. It is for those who raise that limit. */
const MOST_CHARACTERS = 8 * 1024 * 1024
/** A page of at most this size and at most `MOST_DEPTH` tags cannot pass a bound: an attribute takes two characters. */
const SMALL = 2 * MOST_NODES

/** Throws `KUMO_NO_DOCUMENT`, which tells the bound, if the DOM of this page would cost too much. */
export function refuseOversized(html: string, url: string): void {
  const bound = boundPassed(html)
  if (bound === undefined) return
  const message = `page.document: ${url} has more than ${bound}, too much for a DOM; use page.links, page.text or page.body`
  throw new KumoError('KUMO_NO_DOCUMENT', message)
}

/** The bound that the page passes, in words. */
function boundPassed(html: string): string | undefined {
  if (html.length > MOST_CHARACTERS) return `${MOST_CHARACTERS} characters`
  if (html.length <= SMALL && hasFewTags(html)) return undefined
  const { Parser } = require('htmlparser2') as typeof import('htmlparser2')
  const count = new NodeCount()
  try {
    // The options are linkedom's, so that what is counted is what it would build.
    new Parser(count, { lowerCaseAttributeNames: false, decodeEntities: true }).end(html)
  } catch (error) {
    if (!(error instanceof Passed)) throw error
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

/** The only way out of a parser that is fed a whole page. */
class Passed {
  constructor(readonly bound: string) {}
}

/** Hears what the parser finds. */
class NodeCount {
  #depth = 0
  #nodes = 0

  onopentagname(): void {
    if (++this.#depth > MOST_DEPTH) throw new Passed(`${MOST_DEPTH} elements within each other`)
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
      throw new Passed(`${MOST_NODES} elements, attributes, texts and comments`)
    }
  }
}
