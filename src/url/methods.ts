/** HTTP methods: which of them a crawl may repeat (RFC 9110, 9.2, and the registry of methods). */

/** They only read. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'QUERY', 'PROPFIND', 'REPORT', 'SEARCH'])

/** They change something, but twice has the same effect as once. */
const REPEATABLE: ReadonlySet<string> = new Set(['PUT', 'DELETE'])

/** Whether a request only reads, so that a page may be visited again to see whether it has changed. */
export function isSafe(method: string | undefined): boolean {
  return method === undefined || SAFE.has(method)
}

/** Whether sending a request twice does no harm. A method that is not known here may do harm. */
export function isIdempotent(method: string | undefined): boolean {
  return method === undefined || SAFE.has(method) || REPEATABLE.has(method)
}
