import type { Page } from '../../extract/contract.js'
import type { CrawlRequest } from '../../types.js'
import { type ScopePage, type ScopeTest, scopeTarget } from '../../url/scope/scope.js'

/** The distance of pages that no page in the scope links to: beyond every `around`. */
export const FAR = 1000

/** Decides about fetched pages, with a scope that depends on them (`pageLanguage()`). */
export class PageScope {
  readonly #scope: ScopeTest
  readonly #languageOf: (page: Page) => string | undefined
  /** Pages that are kept although they are not in the scope, until their links are admitted. */
  readonly #distances = new WeakMap<CrawlRequest, number>()

  constructor(scope: ScopeTest, languageOf: (page: Page) => string | undefined) {
    this.#scope = scope
    this.#languageOf = languageOf
  }

  /** Whether the page is kept. Exceptions of custom rules propagate. */
  keeps(request: CrawlRequest, page: Page): boolean {
    const { url, depth, parent, extras } = request
    const target = scopeTarget(url, depth, parent)
    // Seeds are fetched whatever their URL.
    if (this.#scope.test(target) !== 'after-fetch') return true
    const language = this.#languageOf(page)
    const matches = (distance: number) => {
      const judged: ScopePage = { language, distance }
      return this.#scope.testPage?.(target, judged) === true
    }
    if (matches(Number.POSITIVE_INFINITY)) return true
    if (parent === undefined) return false
    const distance = (extras?.outside ?? 0) + 1
    if (!matches(distance)) return false
    this.#distances.set(request, distance)
    return true
  }

  /** How many links a kept page is away from the last page in the scope: 0 if it is in the scope itself. */
  distanceOf(request: CrawlRequest): number {
    return this.#distances.get(request) ?? 0
  }
}
