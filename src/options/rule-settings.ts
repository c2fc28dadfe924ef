import type { Module } from '../modules/module.js'
import { all } from '../url/scope/combine.js'
import { prioritized } from '../url/scope/priorities.js'
import type { ScopeLike } from '../url/scope/scope.js'
import type { PriorityRule } from '../url/scope/url-table.js'
import { BaseSettings } from './base-settings.js'
import { acceptRules } from './user-code.js'

/** The options that decide by rules which links are followed, and in which order. */
export abstract class RuleSettings extends BaseSettings {
  /**
   * Which links are followed: a name (`'site'`, `'host'`, `'origin'`, `'path'`, `'all'`), a rule, a glob, a regular
   * expression, a function, or a module that exports one of these. Several must all match. Default `'site'`: the
   * registrable domains of the seeds. With workers a function must be in a module.
   *
   * @example
   * new Crawler().seeds('https://example.com/').scope('host', not('/login'))
   */
  scope(...rules: [ScopeLike | Module, ...(ScopeLike | Module)[]]): this {
    // Called without a rule, it fails like `scope(undefined)`.
    const [first, ...more] = acceptRules('scope', rules.length === 0 ? [undefined] : rules)
    return this.with({ scope: more.length === 0 ? first : all(first!, ...more) })
  }

  /**
   * Within the scope, follows only links that match one of these rules. Each call adds. With workers a function must be
   * in a module.
   */
  include(...rules: (ScopeLike | Module)[]): this {
    return this.with({ include: [...this.options.include, ...acceptRules('include', rules)] })
  }

  /**
   * Within the scope, follows no link that matches one of these rules. Each call adds. With workers a function must be in
   * a module.
   */
  exclude(...rules: (ScopeLike | Module)[]): this {
    return this.with({ exclude: [...this.options.exclude, ...acceptRules('exclude', rules)] })
  }

  /**
   * Your block-list: host names (with their subdomains, on every port), globs, regular expressions, functions, or modules
   * that export one of these. Each call adds. It applies before scope and robots.txt, to seeds, links, redirects and
   * sitemaps. With workers a function must be in a module.
   *
   * @example
   * new Crawler().block('ads.example.com', '/cgi-bin/**')
   */
  block(...rules: (ScopeLike | Module)[]): this {
    return this.with({ block: [...this.options.block, ...acceptRules('block', rules)] })
  }

  /**
   * The priority of links that match a rule. Within a host, links with a larger number are fetched first; other links
   * have 0, and pages that only a sitemap lists have -1. Each call adds a rule, and the first that matches decides. A
   * link to which an extractor gave a `priority` keeps that. With workers a function must be in a module.
   *
   * `byRank(graph)` of `kumo/graph` knows the priority of each URL by itself, and needs no number.
   *
   * @example
   * new Crawler().prioritize('/products/**', 10).prioritize('/archive/**', -10)
   */
  prioritize(rule: ScopeLike | Module, priority: number): this
  prioritize(rule: PriorityRule): this
  prioritize(rule: ScopeLike | Module, priority?: number): this {
    const [made] = acceptRules('prioritize', [rule])
    return this.with({ prioritize: [...this.options.prioritize, prioritized(made!, priority)] })
  }
}
