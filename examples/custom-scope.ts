/**
 * Which links are followed. Rules, globs, regular expressions and functions can all stand for a rule, and combine
 * with all(), any() and not().
 *
 *     npx tsx examples/custom-scope.ts https://example.com/
 */

import { Crawler, not, sameHost } from 'kumo'
import type { ScopeTarget } from 'kumo/adapters'

const start = process.argv[2] ?? 'https://example.com/'

/** A rule of one's own must answer at once. `parsed` is a URL, made when it is first touched. */
function hasShortQuery({ url, parsed }: ScopeTarget): boolean {
  return !url.includes('?') || parsed.searchParams.size <= 2
}

const summary = await new Crawler()
  .seeds(start)
  // Several rules must all agree: the seeds' hosts, no printable versions, no long queries.
  .scope(sameHost(), not('/**/print/**'), hasShortQuery)
  // Within that, nothing that looks like a way in or an archive of files.
  .exclude('/login', '/logout', /\.(?:zip|pdf|mp4)$/)
  .limit({ pages: 20 })
  .on('page', (page) => console.log('page', page.url))
  .on('skip', (skip) => console.log(`skip (${skip.reason})`, skip.url))
  .run()

console.log(`${summary.pages} pages; skipped by scope: ${summary.skips.scope ?? 0}`)
