/**
 * The words of scope: which URLs may a crawl follow? A *rule* is a value that can be shared between crawlers and
 * used by many runs; what it learns during a run (its seeds) lives in the *test* that each run starts.
 */

import { hostOf } from '../canonicalize.js'

/** A URL about which a scope is asked. */
export interface ScopeTarget {
  /** Canonical. */
  readonly url: string
  /** Host name, with the port if it is not the scheme's default. */
  readonly host: string
  /** Links followed from a seed to here. */
  readonly depth: number
  /** The page on which the link was found, if any. */
  readonly parent: string | undefined
  /** Parsed when first touched: costs a microsecond, so a test that can do with `url` should. */
  readonly parsed: URL
}

/** A test of the user's own. It must answer at once: a promise is not an answer. */
export type ScopePredicate = (target: ScopeTarget) => boolean

/** One part of a scope, as users combine and share them. It holds no state; each run starts a test. */
export interface ScopeRule {
  /** Shown in messages, e.g. `same site`. */
  readonly name: string
  /** Called once a run. */
  start(): ScopeTest
}

/** A rule at work in one run. Called in this order: `open`, then any number of `addSeed` and `test`. */
export interface ScopeTest {
  /** True if the answer depends on the origin alone: it may be remembered per origin until a seed is added. */
  readonly perOrigin: boolean
  /** Loads what the test needs, e.g. the public suffix list. */
  open?(): Promise<void>
  /** Tells each seed, canonical, before it is crawled. */
  addSeed?(url: string): void
  /** May the crawl follow it? What a user's function throws passes through. */
  test(target: ScopeTarget): boolean
}

/** The ready scopes by name, all relative to the seeds. `all` follows every link: say it only if you mean it. */
export type ScopeName = 'site' | 'host' | 'origin' | 'path' | 'all'

/** Any other text. Written so, editors still offer the names beside it. */
type GlobText = string & {}

/** What users may write where a rule is expected; a string that is not a name is a glob (see `glob`). */
export type ScopeLike = ScopeRule | ScopePredicate | RegExp | ScopeName | GlobText

/**
 * The target for a canonical URL.
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
