/**
 * What a page asks of crawlers: robots meta elements and the X-Robots-Tag header. Those for all crawlers and those for
 * this one count together, and the most restrictive wins, as search engines document it.
 */

/** What a page asks for. */
export interface RobotsDirectives {
  readonly noindex: boolean
  readonly nofollow: boolean
}

/** What a page said. */
export interface RobotsStatements {
  /** The contents of all meta elements that are meant for this crawler, joined with commas. */
  readonly meta: string | undefined
  /** The value of X-Robots-Tag; several of them joined with commas. */
  readonly header: string | undefined
  /** The name that this crawler answers to, in small letters. */
  readonly product: string | undefined
}

const NOTHING: RobotsDirectives = Object.freeze({ noindex: false, nofollow: false })
const NOINDEX: RobotsDirectives = Object.freeze({ noindex: true, nofollow: false })
const NOFOLLOW: RobotsDirectives = Object.freeze({ noindex: false, nofollow: true })
const NONE: RobotsDirectives = Object.freeze({ noindex: true, nofollow: true })

/**
 * Reads what was said.
 *
 * @example
 * robotsWishes({ meta: 'noindex', header: 'otherbot: none, kumo: nofollow', product: 'kumo' })
 * // { noindex: true, nofollow: true }
 */
export function robotsDirectives({ meta, header, product }: RobotsStatements): RobotsDirectives {
  // Nearly every page says nothing.
  if (meta === undefined && header === undefined) return NOTHING
  const words = [...wordsOf(meta ?? ''), ...wordsInHeader(header ?? '', product)]
  const none = words.includes('none')
  const noindex = none || words.includes('noindex')
  const nofollow = none || words.includes('nofollow')
  if (noindex) return nofollow ? NONE : NOINDEX
  return nofollow ? NOFOLLOW : NOTHING
}

/** What may stand before a colon without being the name of a crawler. */
const DIRECTIVES = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview'])
/** Names of crawlers begin with a letter; the hours of a date do not. */
const NAMED = /^\s*([a-z_][^\s:,]*|\*)\s*:/i
const EVERYBODY = new Set(['*', 'robots'])

/**
 * A name holds for what follows it up to the next name: in `otherbot: noindex, nofollow` both are meant for the other.
 * Where several headers were joined nothing tells where one ended, so one without a name should come first.
 */
function wordsInHeader(header: string, product: string | undefined): string[] {
  const words: string[] = []
  let applies = true
  for (const part of header.split(',')) {
    const named = NAMED.exec(part)
    const name = named?.[1]?.toLowerCase()
    if (named === null || name === undefined) {
      if (applies) words.push(...wordsOf(part))
    } else if (!DIRECTIVES.has(name)) {
      applies = EVERYBODY.has(name) || name === product
      if (applies) words.push(...wordsOf(part.slice(named[0].length)))
    }
  }
  return words
}

function wordsOf(content: string): string[] {
  return content.toLowerCase().split(/[\s,]+/)
}
