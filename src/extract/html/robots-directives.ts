/**
 * What a page asks of crawlers in robots meta elements and X-Robots-Tag headers. Directives for all crawlers and for this
 * one are combined; the most restrictive wins, as search engines document it.
 */

/** The directives that apply to this crawler. */
export interface RobotsDirectives {
  readonly noindex: boolean
  readonly nofollow: boolean
}

/** What a page declares. */
export interface RobotsDeclarations {
  /** Content of all meta elements for this crawler, joined with commas. */
  readonly meta: string | undefined
  /** Value of X-Robots-Tag; several are joined with commas. */
  readonly header: string | undefined
  /** The product name of this crawler, in lower case. */
  readonly product: string | undefined
}

const NOTHING: RobotsDirectives = Object.freeze({ noindex: false, nofollow: false })
const NOINDEX: RobotsDirectives = Object.freeze({ noindex: true, nofollow: false })
const NOFOLLOW: RobotsDirectives = Object.freeze({ noindex: false, nofollow: true })
const NONE: RobotsDirectives = Object.freeze({ noindex: true, nofollow: true })

/**
 * Combines the declarations of a page.
 *
 * @example
 * robotsDirectives({ meta: 'noindex', header: 'otherbot: none, kumo: nofollow', product: 'kumo' })
 * // { noindex: true, nofollow: true }
 */
export function robotsDirectives({ meta, header, product }: RobotsDeclarations): RobotsDirectives {
  // The common case.
  if (meta === undefined && header === undefined) return NOTHING
  const words = [...wordsOf(meta ?? ''), ...wordsInHeader(header ?? '', product)]
  const none = words.includes('none')
  const noindex = none || words.includes('noindex')
  const nofollow = none || words.includes('nofollow')
  if (noindex) return nofollow ? NONE : NOINDEX
  return nofollow ? NOFOLLOW : NOTHING
}

/** Directives that take a value after a colon; any other name before a colon is a crawler. */
const DIRECTIVES = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview'])
/** Crawler names start with a letter; the hours of a date do not. */
const NAMED = /^\s*([a-z_][^\s:,]*|\*)\s*:/i
const ALL_CRAWLERS = new Set(['*', 'robots'])

/**
 * A crawler name applies to everything up to the next name: in `otherbot: noindex, nofollow` both are for the other bot.
 * If several headers were joined, their boundaries are lost, so one without a name should come first.
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
      applies = ALL_CRAWLERS.has(name) || name === product
      if (applies) words.push(...wordsOf(part.slice(named[0].length)))
    }
  }
  return words
}

function wordsOf(content: string): string[] {
  return content.toLowerCase().split(/[\s,]+/)
}
