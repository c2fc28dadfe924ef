/** What a crawl says about links: those that are broken or redirect, each with the pages that contain it. */

import type { Failure, Page, Redirect, Skip, SkipReason } from '../../index.js'
import { Referrers } from './referrers.js'

/** A step of a redirect. */
export interface Hop {
  readonly status: number
  readonly to: string
}

/** A link that redirects. */
export interface RedirectedLink {
  /** As the pages have it. */
  readonly url: string
  /** Where it leads, step by step; empty if it does not redirect. */
  readonly redirects: readonly Hop[]
  /** The pages with the link, or the sitemap that lists it; empty for a URL that was given. */
  readonly pages: readonly string[]
}

/** A link that leads nowhere. */
export interface BrokenLink extends RedirectedLink {
  readonly status: number | undefined
  readonly code: string
  readonly message: string
}

export interface Findings {
  readonly broken: readonly BrokenLink[]
  /** Links that redirect to something that works or was not checked. */
  readonly redirected: readonly RedirectedLink[]
  /** URLs that were requested, redirects included. */
  readonly checked: number
  /** Pages of the site that were read. */
  readonly pages: number
}

export interface CheckRules {
  /** Whether a page belongs to the site. */
  isInside(url: string): boolean
  readonly checksExternal: boolean
  /** Statuses that count as working. */
  readonly accepted: ReadonlySet<number>
}

/** Skips after which a URL will not be requested any more. */
const SETTLED: ReadonlySet<SkipReason> = new Set<SkipReason>(['media-type', 'robots', 'blocked'])

/** `http://exa mple/` or `//exa mple/`, in contrast to `mailto:me@example.com`. */
const MEANT_AS_HTTP = /^\s*(https?:|\/\/)/i

/** Where a URL was found, if no page of the site has a link to it. */
interface Origin {
  /** Undefined for a URL that was given, and for a target of redirects. */
  readonly parent: string | undefined
  /** It was requested only because another URL redirects to it. */
  readonly isTarget: boolean
}

export class LinkCheck {
  readonly #rules: CheckRules
  readonly #referrers = new Referrers()
  readonly #broken = new Map<string, Pick<Failure, 'status' | 'code' | 'message'> & Origin>()
  readonly #redirects = new Map<string, Hop & Origin>()
  /** Links that are meant to be http URLs and are none, as written, with their pages. */
  readonly #malformed = new Map<string, Set<string>>()
  #checked = 0
  #pages = 0

  constructor(rules: CheckRules) {
    this.#rules = rules
  }

  page({ url, links }: Page): void {
    this.#works(url)
    const { isInside, checksExternal } = this.#rules
    if (!isInside(url)) return
    this.#pages++
    this.#referrers.add(url, targets(links, checksExternal ? undefined : isInside))
  }

  failure(failure: Failure): void {
    const { url, status, code, message, final } = failure
    if (!final) return
    if (code === 'http-status' && this.#rules.accepted.has(status!)) {
      this.#works(url)
    } else {
      this.#checked++
      this.#broken.set(url, { status, code, message, ...originOf(failure) })
    }
  }

  redirect(redirect: Redirect): void {
    const { url, to, status } = redirect
    this.#checked++
    this.#redirects.set(url, { to, status, ...originOf(redirect) })
  }

  skip({ url, reason, parent }: Skip): void {
    if (reason === 'media-type') this.#checked++
    if (SETTLED.has(reason)) this.#referrers.settle(url)
    if (reason === 'not-http' && MEANT_AS_HTTP.test(url) && parent !== undefined) {
      const pages = this.#malformed.get(url)
      if (pages === undefined) this.#malformed.set(url, new Set([parent]))
      else pages.add(parent)
    }
  }

  /** Everything that was found, sorted by URL. */
  findings(): Findings {
    const urls = [...new Set([...this.#broken.keys(), ...this.#redirects.keys()])].sort()
    const referrers = this.#referrers.of(urls)
    const broken: BrokenLink[] = []
    const redirected: RedirectedLink[] = []
    for (const url of urls) {
      const { parent, isTarget } = this.#redirects.get(url) ?? this.#broken.get(url)!
      const pages = referrers.get(url)!
      // Only links are reported, and what they redirect to with them.
      if (pages.length === 0 && isTarget) continue
      if (pages.length === 0 && parent !== undefined) pages.push(parent)
      const redirects = this.#chain(url)
      const problem = this.#broken.get(redirects.at(-1)?.to ?? url)
      if (problem === undefined) redirected.push({ url, redirects, pages })
      else {
        const { status, code, message } = problem
        broken.push({ url, redirects, status, code, message, pages })
      }
    }
    return {
      broken: [...broken, ...this.#malformedLinks()],
      redirected,
      checked: this.#checked,
      pages: this.#pages,
    }
  }

  #malformedLinks(): BrokenLink[] {
    return [...this.#malformed].sort().map(([url, pages]) => ({
      ...{ url, redirects: [], pages: [...pages] },
      ...{ status: undefined, code: 'not-http', message: 'not a valid URL' },
    }))
  }

  #works(url: string): void {
    this.#checked++
    this.#referrers.settle(url)
  }

  /** The redirects from a URL on, up to the first that repeats. */
  #chain(url: string): Hop[] {
    const hops: Hop[] = []
    const met = new Set<string>()
    for (let at = this.#redirects.get(url); at !== undefined; at = this.#redirects.get(at.to)) {
      hops.push({ status: at.status, to: at.to })
      if (met.has(at.to)) break
      met.add(at.to)
    }
    return hops
  }
}

function* targets(links: Page['links'], isWanted?: (url: string) => boolean): Iterable<string> {
  for (const { url } of links) if (isWanted?.(url) !== false) yield url
}

function originOf({ parent, redirectedFrom }: Pick<Failure, 'parent' | 'redirectedFrom'>): Origin {
  return { parent, isTarget: redirectedFrom.length > 0 }
}
