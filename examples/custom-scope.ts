/**
 * Which links to follow. A rule can be a ready-made rule, a glob, a regular expression or a function; all(), any() and
 * not() combine them.
 *
 *     npx tsx examples/custom-scope.ts https://example.com/
 */

import { Crawler, not, sameHost } from 'kumo'
import type { ScopeTarget } from 'kumo/adapters'

const start = process.argv[2] ?? 'https://example.com/'

/** A custom rule must return at once, not a promise. `parsed` is a URL that is created on first access. */
function hasShortQuery({ url, parsed }: ScopeTarget): boolean {
  return !url.includes('?') || parsed.searchParams.size <= 2
}

const summary = await new Crawler()
  .seeds(start)
  // A link must pass all rules: same host as a seed, no printable versions, no long queries.
  .scope(sameHost(), not('/**/print/**'), hasShortQuery)
  // Also exclude login pages and large files.
  .exclude('/login', '/logout', /\.(?:zip|pdf|mp4)$/)
  .limit({ pages: 20 })
  .on('page', (page) => console.log('page', page.url))
  .on('skip', (skip) => console.log(`skip (${skip.reason})`, skip.url))
  .run()

console.log(`${summary.pages} pages; skipped by scope: ${summary.skips.scope ?? 0}`)
