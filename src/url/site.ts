/**
 * Which hosts belong together? Those under one registrable domain, as the public suffix list draws the line. The
 * list is large, so it is loaded only when something asks for sites.
 */

import { require } from '../require.js'

/**
 * Loads the public suffix list and gives the function that names the site of a host. Hosting providers count as
 * suffixes, because their customers are strangers to one another. IP addresses, `localhost` and other names
 * without a registrable domain are sites of their own; ports do not matter.
 *
 * @example
 * const siteOf = await loadSiteOf()
 * siteOf('www.shop.example.co.uk:8080') // 'example.co.uk'
 * siteOf('alice.github.io')             // 'alice.github.io'
 * siteOf('127.0.0.1:3000')              // '127.0.0.1'
 */
export async function loadSiteOf(): Promise<(host: string) => string> {
  const { getDomain } = require('tldts') as typeof import('tldts')
  // The hosts of canonical URLs are parsed and valid already.
  const options = { allowPrivateDomains: true, extractHostname: false, validateHostname: false }
  return (host) => {
    const name = withoutPort(host)
    return getDomain(name, options) ?? name
  }
}

/** The name alone: without port, and without the dot that marks a name as complete. */
function withoutPort(host: string): string {
  if (host.startsWith('[')) return host.slice(0, host.indexOf(']') + 1)
  const colon = host.indexOf(':')
  const end = colon < 0 ? host.length : colon
  return host.slice(0, host[end - 1] === '.' ? end - 1 : end)
}
