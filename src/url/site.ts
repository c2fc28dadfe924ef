/**
 * Groups hosts into sites: those with the same registrable domain, by the public suffix list. The list is large, so it is
 * loaded only if needed.
 */

import { require } from '../require.js'

/**
 * Loads the public suffix list and returns the function that maps a host to its site. Hosting providers count as public
 * suffixes, because their customers are independent. IP addresses, `localhost` and other names without a registrable
 * domain are sites of their own; ports do not matter.
 * @example
 * const siteOf = await loadSiteOf()
 * siteOf('www.shop.example.co.uk:8080') // 'example.co.uk'
 * siteOf('alice.github.io')             // 'alice.github.io'
 * siteOf('127.0.0.1:3000')              // '127.0.0.1'
 */
export async function loadSiteOf(): Promise<(host: string) => string> {
  const { getDomain } = require('tldts') as typeof import('tldts')
  // Hosts of canonical URLs are parsed and valid already.
  const options = { allowPrivateDomains: true, extractHostname: false, validateHostname: false }
  return (host) => {
    const name = withoutPort(host)
    return getDomain(name, options) ?? name
  }
}

/** The host name without port and trailing dot. */
function withoutPort(host: string): string {
  if (host.startsWith('[')) return host.slice(0, host.indexOf(']') + 1)
  const colon = host.indexOf(':')
  const end = colon < 0 ? host.length : colon
  return host.slice(0, host[end - 1] === '.' ? end - 1 : end)
}
