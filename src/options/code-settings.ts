/**
 * What a crawler can be told that may be code of the user's own: as a value, which belongs to the thread that made it, or
 * as a module, which every thread can load. What is data (a name, a glob, a ready-made rule or store) every thread can
 * have as it is.
 *
 * These methods have one signature each, and no overloads: the compiler would have to look into a function to choose one,
 * and could not type `const crawler = new Crawler().fetch(() => crawler.stop())`.
 */

import type { FetchContext, Fetcher, Outcome } from '../fetch/contract.js'
import type { Resolver } from '../fetch/dns/resolver.js'
import type { Frontier } from '../frontier/contract.js'
import { isModule, type Module, moduleOf } from '../modules/module.js'
import type { HostPartitioner } from '../partition/contract.js'
import type { SeenStore } from '../seen/contract.js'
import type { Store, StoreContext } from '../stores/contract.js'
import type { CrawlRequest, MaybePromise } from '../types.js'
import { all } from '../url/scope/combine.js'
import type { ScopeLike } from '../url/scope/scope.js'
import { frontierPart } from './check.js'
import * as access from './check-access.js'
import { type RefreshOptions, refreshOptions } from './check-refresh.js'
import * as check from './check-user-code.js'
import { Settings } from './settings.js'

export abstract class CodeSettings extends Settings {
  /**
   * Which links are followed: a name (`'site'`, `'host'`, `'origin'`, `'path'`, `'all'`), a rule, a glob, a regular
   * expression, a function, or a module that exports one of these; several must all agree. Default `'site'`: the
   * registrable domains of the seeds. With workers a function must be in a module.
   */
  scope(...rules: [ScopeLike | Module, ...(ScopeLike | Module)[]]): this {
    const [first, ...more] = rules.map((rule) => check.scopeRule('scope', rule))
    if (first === undefined) return this.with({ scope: check.scopeRule('scope', undefined) })
    return this.with({ scope: more.length === 0 ? first : all(first, ...more) })
  }

  /** Within the scope, only links that match one of these; each call adds. With workers a function must be in a module. */
  include(...rules: (ScopeLike | Module)[]): this {
    return this.with({ include: [...this.options.include, ...check.scopeRules('include', rules)] })
  }

  /** Within the scope, no links that match one of these; each call adds. With workers a function must be in a module. */
  exclude(...rules: (ScopeLike | Module)[]): this {
    return this.with({ exclude: [...this.options.exclude, ...check.scopeRules('exclude', rules)] })
  }

  /**
   * The operator's own block-list: host names (with their subdomains, on every port), globs, regular expressions,
   * functions, or modules that export one of these; each call adds. It is asked before anything else, for seeds, links,
   * redirects and sitemaps. With workers a function must be in a module.
   */
  block(...rules: (ScopeLike | Module)[]): this {
    return this.with({ block: [...this.options.block, ...check.blockRules('block', rules)] })
  }

  /**
   * An http or https proxy; a function that names the one for a URL; or a module that exports such a function. The
   * address guard sees less behind it. With workers a function must be in a module.
   */
  proxy(proxy: string | URL | ((url: string) => string | URL | undefined) | Module): this {
    if (isModule(proxy)) return this.withAccess({ proxy: moduleOf('proxy', proxy) })
    return this.withAccess(access.checked({ proxy }))
  }

  /**
   * Other name servers (`{ servers: […] }`); a resolver of your own; or a module that exports a resolver, or a function
   * that makes one. With workers a resolver must be in a module, and each has its own.
   */
  dns(names: { servers: readonly string[] } | Resolver | Module): this {
    if (isModule(names)) return this.withAccess({ resolver: moduleOf('dns', names), dnsServers: undefined })
    return this.withAccess(access.dns(names))
  }

  /**
   * Where the crawl keeps its state: `memory()`, which is the default, `level(path)`, a store of your own, or a module
   * that exports one, or a function that makes one. With workers a store of your own must be in a module.
   */
  store(store: Store | Module): this {
    return this.with({ store: check.orModule('store', store, check.store) })
  }

  /**
   * A frontier of your own; a function that makes one when the crawl runs; or a module that exports such a function.
   * With workers it must be in a module, and each has its own.
   */
  frontier(frontier: Frontier | ((context: StoreContext) => MaybePromise<Frontier>) | Module): this {
    if (typeof frontier === 'function') return this.with({ frontier })
    const own = (value: unknown) => frontierPart('frontier', value)
    return this.with({ frontier: check.orModule('frontier', frontier, own) })
  }

  /**
   * A seen-set of your own, or a module that exports a function that makes one. With workers it must be in a module, and
   * each has its own.
   */
  seenStore(seen: SeenStore | Module): this {
    return this.with({ seenStore: check.orModule('seenStore', seen, check.seen) })
  }

  /**
   * How hosts are dealt out over workers: `byHost()`, which is the default, a partitioner of your own, or a module that
   * exports one, or a function that makes one. With workers one of your own must be in a module.
   */
  partitioner(partitioner: HostPartitioner | Module): this {
    return this.with({ partitioner: check.orModule('partitioner', partitioner, check.partition) })
  }

  /**
   * Visits known pages again. With `rounds` it is so many conditional passes over all that is known; otherwise each page
   * gets times of its own by how often it changes, and the run goes on until it is stopped. docs/refresh.md explains.
   *
   * @example
   * new Crawler().seeds('https://example.com/').store(level('./crawl')).refresh({ min: '1h', max: '30d' })
   */
  refresh(rules: RefreshOptions = {}): this {
    return this.with(refreshOptions(rules))
  }

  /**
   * A fetcher of your own: an object with `fetch`; the function itself; or a module that exports one of these. With
   * workers it must be in a module, and each has its own.
   */
  fetcher(
    fetcher: Fetcher | ((request: CrawlRequest, context: FetchContext) => MaybePromise<Outcome>) | Module,
  ): this {
    return this.with({ fetcher: check.orModule('fetcher', fetcher, check.fetcher) })
  }
}
