import { messageOf } from '../../errors.js'
import type { CrawlRequest, Link, MaybePromise, SkipReason } from '../../types.js'
import type { Asked } from '../../url/page-request.js'
import { scopeTarget } from '../../url/scope/scope.js'
import type { EngineParts, EngineRules } from '../parts.js'
import type { OriginFacts } from './origin-cache.js'

/** Receives what was not admitted. */
export interface AdmissionReport {
  /** `asked` is the request, or the link that would have become one. */
  skipped(url: string, reason: SkipReason, parent: string | undefined, asked: Asked): void
  /** Counts a link that is skipped for a reason, if its URL is of no use; otherwise false. */
  skippedAgain(reason: SkipReason): boolean
  scopeFailed(url: string, message: string, cause: unknown, from: LinkOrigin): MaybePromise<void>
  rewriteFailed(url: string, message: string, cause: unknown, from: LinkOrigin): MaybePromise<void>
  /** Which limit the host, or its site, has reached. */
  isFull(host: string): SkipReason | undefined
}

/** Where a URL that was not admitted came from. */
export interface LinkOrigin extends Asked {
  readonly parent: string | undefined
  readonly depth: number
}
type FilterParts = Pick<EngineParts, 'blocked' | 'scope' | 'trap' | 'withoutParameters' | 'rewrite'>

/** Decides which URLs the crawl wants (block-list, scope, depth, host limits, traps) and reports the others. */
export class AdmissionFilter {
  readonly #parts: FilterParts
  readonly #rules: Pick<EngineRules, 'maxDepth'>
  readonly #report: AdmissionReport
  /** URLs for which a rule threw. Filled while links are filtered, emptied by `reportFailures`. */
  readonly #failures: { url: string; error: unknown; from: LinkOrigin; isRewrite?: true }[] = []

  constructor(parts: FilterParts, rules: Pick<EngineRules, 'maxDepth'>, report: AdmissionReport) {
    this.#parts = parts
    this.#rules = rules
    this.#report = report
  }

  get hasFailures(): boolean {
    return this.#failures.length > 0
  }

  /** Reports the URLs for which a rule threw since the last call. */
  async reportFailures(): Promise<void> {
    for (const { url, error, from, isRewrite } of this.#failures.splice(0)) {
      if (isRewrite) await this.#report.rewriteFailed(url, messageOf(error), (error as Error).cause, from)
      else await this.#report.scopeFailed(url, `a scope rule threw: ${messageOf(error)}`, error, from)
    }
  }

  /** The URL as `urls()` rewrites it; undefined if that failed. */
  rewritten(url: string, depth: number, parent: string | undefined, asked: Asked): string | undefined {
    const { rewrite, withoutParameters } = this.#parts
    if (rewrite === undefined) return withoutParameters === undefined ? url : withoutParameters(url)
    try {
      return rewrite(url)
    } catch (error) {
      this.#failures.push({ url, error, from: originOf(asked, parent, depth), isRewrite: true })
      return undefined
    }
  }

  /** `asked` is the link or the request. */
  admits(url: string, facts: OriginFacts, depth: number, from: CrawlRequest, asked: Asked): boolean {
    if (this.isBlocked(url, facts, depth, from.url, asked)) return false
    if (!this.#inScope(url, facts, depth, from, asked)) return false
    if (depth > this.#rules.maxDepth) {
      this.#report.skipped(url, 'depth', from.url, asked)
      return false
    }
    const full = this.#report.isFull(facts.host)
    if (full !== undefined) this.#report.skipped(url, full, from.url, asked)
    return full === undefined
  }

  isBlocked(
    url: string,
    facts: OriginFacts,
    depth: number,
    parent: string | undefined,
    asked: Asked,
  ): boolean {
    let blocked = facts.blocked
    if (blocked === undefined) {
      try {
        blocked = this.#parts.blocked!.test(scopeTarget(url, depth, parent)) === true
      } catch (error) {
        // If the rule fails, the URL counts as blocked.
        this.#failures.push({ url, error, from: originOf(asked, parent, depth) })
        return true
      }
    }
    if (blocked) this.#report.skipped(url, 'blocked', parent, asked)
    return blocked
  }

  isTrap(request: CrawlRequest): boolean {
    const reason = this.#parts.trap?.(request.url)
    if (reason !== undefined) this.#report.skipped(request.url, reason, request.parent, request)
    return reason !== undefined
  }

  #inScope(url: string, facts: OriginFacts, depth: number, from: CrawlRequest, asked: Asked): boolean {
    let inScope = facts.inScope
    if (inScope === undefined) {
      try {
        inScope = this.#parts.scope.test(scopeTarget(url, depth, from.url))
      } catch (error) {
        this.#failures.push({ url, error, from: originOf(asked, from.url, depth) })
        return false
      }
    }
    if (inScope === false) this.#report.skipped(url, 'scope', from.url, asked)
    return inScope !== false
  }
}

/** Field by field, because those of a leased request are getters of its class. */
function originOf({ priority, extras }: Asked, parent: string | undefined, depth: number): LinkOrigin {
  return { priority, extras, parent, depth }
}

/** `rel` values of `link` elements that lead to pages, and not to style sheets, icons or fonts. */
const PAGE_RELS: ReadonlySet<string> = new Set([
  'alternate',
  'next',
  'prev',
  'previous',
  'first',
  'last',
  'start',
])

/** Whether a link may lead to a page. The canonical URL is followed only with `followCanonical`. */
export function leadsToPage(link: Link, followCanonical: boolean): boolean {
  if (link.tag !== 'link') return true
  if (link.rel === undefined) return false
  return tokens(link.rel).some((word) => PAGE_RELS.has(word) || (followCanonical && word === 'canonical'))
}

/** Whether a `rel` attribute asks crawlers not to follow its link. */
export function isNofollow(rel: string): boolean {
  return rel.length >= 'nofollow'.length && tokens(rel).includes('nofollow')
}

function tokens(rel: string): string[] {
  return rel.toLowerCase().split(/[\t\n\f\r ]+/)
}
