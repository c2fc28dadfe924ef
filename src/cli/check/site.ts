/** What `kumo check` visits: the pages of a site, and every URL that such a page links to, one step outside included. */

import type { ScopeRule } from '../../index.js'
import { type ScopeTest, scopeTarget } from '../../url/scope/scope.js'

/** A scope for one run that also says which pages are inside. */
export class Site implements ScopeRule {
  readonly name: string
  readonly #inside: ScopeRule
  readonly #checksExternal: boolean
  #test: ScopeTest | undefined

  /** @param inside The pages whose links are checked. */
  constructor(inside: ScopeRule, checksExternal: boolean) {
    this.name = `links of ${inside.name}`
    this.#inside = inside
    this.#checksExternal = checksExternal
  }

  start(): ScopeTest {
    const inside = this.#inside.start()
    this.#test = inside
    return {
      perOrigin: false,
      open: async () => inside.open?.(),
      addSeed: (url) => inside.addSeed?.(url),
      test: (target) =>
        inside.test(target) === true ||
        (this.#checksExternal && (target.parent === undefined || this.includes(target.parent))),
    }
  }

  /** Whether a page belongs to the site. */
  includes(url: string): boolean {
    return this.#test?.test(scopeTarget(url, 0, undefined)) === true
  }
}
