/** What a link costs to resolve, by kind, beside what `URL` costs. Run: npx tsx bench/micro/resolve.ts */

import { performance } from 'node:perf_hooks'
import { canonicalizeUrl } from '../../src/url/canonicalize.js'
import { baseFor, resolve } from '../../src/url/resolve.js'

const ROUNDS = 20
const LINKS_A_ROUND = 20_000
const PAGE = 'https://example.com/section/articles/page.html?from=home'

const kinds: Record<string, (n: number) => string> = {
  'absolute path': (n) => `/articles/2024/title-${n}.html`,
  'path and query': (n) => `/search?q=word&page=${n}`,
  'relative path': (n) => `title-${n}.html`,
  'up a directory': (n) => `../other/title-${n}.html`,
  'same origin': (n) => `https://example.com/articles/title-${n}.html`,
  'other host': (n) => `https://www.example.org/articles/title-${n}.html`,
  escapes: (n) => `/wiki/%E8%9C%98%E8%9B%9B_${n}`,
  fragment: (n) => `#section-${n}`,
  mailto: (n) => `mailto:user-${n}@example.com`,
  'doubtful (space)': (n) => `/articles/title ${n}.html`,
}

/** Links as the scanner delivers them: slices of a page. */
function slices(kind: (n: number) => string): string[] {
  return Array.from({ length: LINKS_A_ROUND }, (_, n) => kind(n))
    .join('\n')
    .split('\n')
}

/** The quickest of many rounds: what the work costs when nobody else uses the core. */
function microseconds(links: readonly string[], work: (href: string) => string | undefined): number {
  let best = Number.POSITIVE_INFINITY
  let length = 0
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now()
    for (const href of links) length += work(href)?.length ?? 0
    best = Math.min(best, performance.now() - start)
  }
  if (length < 0) throw new Error('the work must not be optimised away')
  return (best * 1000) / links.length
}

const base = baseFor(PAGE)
const rows = Object.entries(kinds).map(([kind, make]) => {
  const links = slices(make)
  const url = microseconds(links, (href) => new URL(href, PAGE).href)
  const whole = microseconds(links, (href) => canonicalizeUrl(href, PAGE))
  const quick = microseconds(links, (href) => resolve(href, base))
  return {
    kind,
    'new URL µs': url.toFixed(2),
    'canonicalizeUrl µs': whole.toFixed(2),
    'resolve µs': quick.toFixed(3),
    'times faster than URL': (url / quick).toFixed(1),
  }
})
console.table(rows)
