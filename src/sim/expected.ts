import { originOf } from '../url/canonicalize.js'
import { baseFor, resolve } from '../url/resolve.js'
import type { Answer, WebMap } from './web-map.js'

/** The crawl whose pages are expected. */
export interface ExpectedCrawl {
  /** Default: the seeds of the web. */
  readonly seeds?: readonly string[]
  /** Default 2. */
  readonly retries?: number
  /** Whether it obeys robots.txt. Default true. */
  readonly robots?: boolean
  /** How long it waits for an answer, in ms. Default 30 s. */
  readonly timeoutMs?: number
}

/** How often a crawl requests a failing robots.txt before it treats the host as disallowed. */
const RULES_TRIES = 3

/**
 * The pages that a complete crawl without limits delivers, each once: everything that can be reached from the seeds
 * through pages and redirects that answer within the allowed attempts. It walks the web map and shares nothing with the
 * engine, so that the two can disagree.
 */
export function expectedPages(
  map: WebMap,
  { seeds = [], retries = 2, robots = true, timeoutMs = 30_000 }: ExpectedCrawl,
): Set<string> {
  const known = new Set(seeds)
  const pages = new Set<string>()
  const openOrigins = new Map<string, boolean>()

  const lastAnswer = (url: string, tries: number): Answer | undefined => {
    for (let attempt = 0; attempt < tries; attempt++) {
      const answer = map.answer(url, attempt)
      if (map.latencyMs(url, attempt) < timeoutMs && !isTransient(answer)) return answer
    }
    return undefined
  }
  const hasRules = (origin: string): boolean => {
    let open = openOrigins.get(origin)
    if (open === undefined) {
      open = lastAnswer(`${origin}/robots.txt`, RULES_TRIES) !== undefined
      openOrigins.set(origin, open)
    }
    return open
  }
  // Iterating over a set also visits what is added meanwhile, so the set is the queue.
  for (const url of known) {
    if (robots && !(map.allows(url) && hasRules(originOf(url)))) continue
    const answer = lastAnswer(url, retries + 1)
    const base = baseFor(url)
    if (answer?.kind === 'redirect') known.add(resolve(answer.location, base)!)
    if (answer?.kind !== 'page') continue
    pages.add(url)
    for (const [, href] of answer.html.matchAll(/href="([^"]*)"/g)) known.add(resolve(href!, base)!)
  }
  return pages
}

function isTransient(answer: Answer): boolean {
  switch (answer.kind) {
    case 'status':
      return answer.status === 503
    case 'page':
    case 'redirect':
    case 'rules':
      return false
    default:
      return true
  }
}
