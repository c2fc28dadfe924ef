/**
 * The types of scopes: which URLs may a crawl follow? A *rule* is a value that crawlers can share and many runs can use; what
 * it learns during a run (its seeds) is in the *test* that each run starts.
 */

import { hostOf } from '../canonicalize.js'

/** A URL to test. */
export interface ScopeTarget {
  /** The canonical URL. */
  readonly url: string
  /** Host name, with the port if it is not the scheme's default. */
  readonly host: string
  /** Number of links followed from a seed. */
  readonly depth: number
  /** The page that linked here; undefined for a seed. */
  readonly parent: string | undefined
  /** Parsed on first access, which costs a microsecond; prefer `url` if it is enough. */
  readonly parsed: URL
}

/**
 * What a rule says about a URL that is not fetched yet: yes, no, or that the page itself must be seen. A URL with the
 * third answer is fetched, and the page is then judged by `testPage`.
 */
export type ScopeAnswer = boolean | 'after-fetch'

/** What rules can ask about a fetched page. */
export interface ScopePage {
  /** The language that the page is written in, as a BCP 47 tag such as `ja` or `zh-Hant`; undefined if unknown. */
  readonly language: string | undefined
  /**
   * How many links the page is away from the last page in the scope: 1 if such a page links here. Infinity for a seed
   * and for a page that only a sitemap lists.
   */
  readonly distance: number
}

/** A custom test. It must return synchronously: a promise is an error. */
export type ScopePredicate = (target: ScopeTarget) => boolean

/** One part of a scope, which can be combined and shared. It holds no state; each run starts a test. */
export interface ScopeRule {
  /** Name in messages, e.g. `same site`. */
  readonly name: string
  /** Called once per run. */
  start(): ScopeTest
}

/** A rule during one run. Call `open` first, then `addSeed` and `test` any number of times. */
export interface ScopeTest {
  /** True if the result depends only on the origin: it may be cached per origin until a seed is added. */
  readonly perOrigin: boolean
  /** Loads what the test needs, e.g. the public suffix list. */
  open?(): Promise<void>
  /** Called with each canonical seed before it is crawled. */
  addSeed?(url: string): void
  /** Whether the crawl may follow the link. Exceptions of custom tests propagate. */
  test(target: ScopeTarget): ScopeAnswer
  /** Decides about a page for which `test` answered `'after-fetch'`. Absent: it never does. */
  testPage?(target: ScopeTarget, page: ScopePage): boolean
}

/** Built-in scopes by name, all relative to the seeds. `all` follows every link: use it with care. */
export type ScopeName = 'site' | 'host' | 'origin' | 'path' | 'all'

/** Any other string. Written like this, editors still suggest the names. */
type GlobText = string & {}

/** What you can pass as a rule; a string that is not a name is a glob (see `glob`). */
export type ScopeLike = ScopeRule | ScopePredicate | RegExp | ScopeName | GlobText

/**
 * Creates the target for a canonical URL.
 *
 * @example
 * scopeTarget('https://example.com/a', 1, 'https://example.com/').parsed.pathname // '/a'
 */
export function scopeTarget(url: string, depth: number, parent: string | undefined): ScopeTarget {
  return new Target(url, hostOf(url), depth, parent)
}

class Target implements ScopeTarget {
  #parsed: URL | undefined

  constructor(
    readonly url: string,
    readonly host: string,
    readonly depth: number,
    readonly parent: string | undefined,
  ) {}

  get parsed(): URL {
    this.#parsed ??= new URL(this.url)
    return this.#parsed
  }
}
