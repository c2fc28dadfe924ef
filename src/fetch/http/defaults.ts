/**
 * The defaults of `httpFetcher()`. A crawl takes those of its options with the same meaning from here. Imports nothing, so
 * that reading them loads no fetcher.
 */
export const HTTP_DEFAULTS = {
  headers: {},
  maxBodyBytes: 8 * 1024 * 1024,
  /** Twice what Node accepts: large cookies and policies are common on the web. */
  maxHeaderBytes: 32 * 1024,
  connectionsPerHost: 1,
  /** Below the 1,024 open files that many systems allow a process. */
  maxConnections: 1000,
  /** Longer than the usual pause between two visits to a host, so that the second finds the connection. */
  keepAliveMs: 10_000,
  connectTimeoutMs: 30_000,
}
