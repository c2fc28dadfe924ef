/** A search as a web service: a page for people and JSON for programs, as a function from a request to a response. */

import { KumoError } from '../../errors.js'
import type { SearchIndex, SearchOptions } from '../contract.js'
import { searchPage } from './page.js'

/** Hits of one answer. */
const MOST_HITS = 100
const LONGEST_QUERY = 2000

/**
 * Makes a fetch-style handler, for Hono, Deno, Next.js or a few lines of Node.js. `GET` of any path that ends in
 * `/search.json` answers with JSON (`q`, `limit`, `offset`, `host`, `language`, `typing`), one in `/suggest.json` with
 * completions of `q`, anything else with the search page.
 *
 * @example
 * import { openIndex, searchHandler } from 'kumo/search'
 *
 * const handler = searchHandler(await openIndex('./index'))
 * const response = await handler(new Request('http://localhost/search.json?q=tea'))
 */
export function searchHandler(index: SearchIndex): (request: Request) => Promise<Response> {
  return async (request) => {
    const { pathname, searchParams } = new URL(request.url)
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return json({ error: 'only GET is allowed' }, 405)
    const query = (searchParams.get('q') ?? '').slice(0, LONGEST_QUERY)
    try {
      if (pathname.endsWith('/search.json')) return json(await index.search(query, optionsOf(searchParams)))
      if (pathname.endsWith('/suggest.json')) return json(await index.suggest(query))
    } catch (error) {
      // What the disk or the index says is for the log, not for visitors.
      const code = error instanceof KumoError ? error.code : 'KUMO_INDEX_FAILED'
      return json({ error: code }, 500)
    }
    return new Response(searchPage(), {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy':
          "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'self'",
        'x-content-type-options': 'nosniff',
      },
    })
  }
}

function optionsOf(params: URLSearchParams): SearchOptions {
  const filters: Record<string, string[]> = {}
  for (const name of ['host', 'language']) {
    const values = params.getAll(name).filter((value) => value !== '')
    if (values.length > 0) filters[name] = values
  }
  return {
    limit: numberOf(params.get('limit'), 10, MOST_HITS),
    offset: numberOf(params.get('offset'), 0, 10_000),
    facets: ['host', 'language'],
    filters,
    prefix: params.get('typing') === '1',
  }
}

function numberOf(text: string | null, fallback: number, most: number): number {
  const value = Number(text ?? fallback)
  return Number.isSafeInteger(value) && value >= 0 ? Math.min(value, most) : fallback
}

function json(value: unknown, status = 200): Response {
  return Response.json(value, {
    status,
    headers: { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' },
  })
}
