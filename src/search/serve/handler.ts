/** A search as a web service: a page for people and JSON for programs, as a function from a request to a response. */

import type { SearchIndex, SearchOptions } from '../contract.js'
import { partOf } from '../parts/local-part.js'
import { PART_PATH } from '../parts/remote-part.js'
import { failed, json } from './json.js'
import { searchPage } from './page.js'
import { answerPart } from './part-answer.js'

/** Hits of one answer. */
const MOST_HITS = 100
const LONGEST_QUERY = 2000

/**
 * Makes a fetch-style handler, for Hono, Deno, Next.js or a few lines of Node.js. `GET` of any path that ends in
 * `/search.json` answers with JSON (`q`, `limit`, `offset`, `host`, `language`, `typing`), one in `/suggest.json` with
 * completions of `q`, anything else with the search page. `POST` of a
 * path in `/part.json` is how `openIndex()` of another machine searches several indexes as one.
 *
 * @example
 * import { openIndex, searchHandler } from 'kumo/search'
 *
 * const handler = searchHandler(await openIndex('./index'))
 * const response = await handler(new Request('http://localhost/search.json?q=tea'))
 */
export function searchHandler(index: SearchIndex): (request: Request) => Promise<Response> {
  const part = partOf(index)
  return async (request) => {
    const { pathname, searchParams } = new URL(request.url)
    if (part !== undefined && pathname.endsWith(`/${PART_PATH}`)) return answerPart(part, request)
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return json({ error: 'only GET is allowed' }, 405)
    const query = (searchParams.get('q') ?? '').slice(0, LONGEST_QUERY)
    try {
      if (pathname.endsWith('/search.json')) return json(await index.search(query, optionsOf(searchParams)))
      if (pathname.endsWith('/suggest.json')) return json(await index.suggest(query))
    } catch (error) {
      return failed(error)
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
