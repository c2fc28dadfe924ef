/** A page as the graph takes it. */
export interface GraphPage {
  /** Absolute URL. */
  readonly url: string
  readonly links?: readonly GraphPageLink[] | undefined
  /** HTTP status. Default 200. */
  readonly status?: number | undefined
  /** When it was fetched, in ms since the epoch. When graphs are merged, the later page counts. */
  readonly seenAt?: number | undefined
}

export interface GraphPageLink {
  /** Absolute URL. */
  readonly url: string
  readonly text?: string | undefined
  readonly rel?: string | undefined
}

/** A link of the graph, as `out()` and `in()` return it. */
export interface GraphLink {
  /** The other end: the target for `out()`, the page with the link for `in()`. */
  readonly url: string
  /** What a reader clicks on; empty if it was not kept. */
  readonly text: string
  /** The `rel` attribute; empty if there is none. */
  readonly rel: string
  /** `rel` contains `nofollow`, `ugc` or `sponsored`. */
  readonly nofollow: boolean
}

/** How large a graph is. */
export interface GraphCounts {
  /** URLs: visited ones and targets of links. */
  readonly urls: number
  readonly pages: number
  readonly links: number
  readonly broken: number
  readonly redirects: number
}

/** A URL that leads nowhere, and the pages that link to it. */
export interface BrokenLink {
  readonly url: string
  /** HTTP status; 0 if there was no response. */
  readonly status: number
  /** The code of the failure, such as `http-status` or `dns-failed`; `gone` for a page that existed. */
  readonly reason: string
  /** Pages that link to it, directly or by redirects. */
  readonly referrers: readonly string[]
}

/** The ranks of a graph were computed. */
export interface RankSummary {
  readonly iterations: number
  /** Sum of all changes in the last iteration; the ranks add up to 1. */
  readonly change: number
  /** The iteration from which an interrupted computation went on; 0 if it began anew. */
  readonly resumedAt: number
}

/** How ranks are computed. */
export interface RankOptions {
  /** The share of readers who follow a link. Default 0.85. */
  readonly damping?: number | undefined
  /** Stop when all changes of an iteration add up to less. Default 1e-9. */
  readonly tolerance?: number | undefined
  /** Stop after so many iterations. Default 200. */
  readonly iterations?: number | undefined
  /** Ends the computation; what was saved is taken up by the next call. */
  readonly signal?: AbortSignal | undefined
}

/** Links from one host to another. */
export interface HostLink {
  readonly from: string
  readonly to: string
  readonly links: number
}

/** The forms in which a graph can be exported. */
export type GraphFormat = 'graphml' | 'dot' | 'csv'
