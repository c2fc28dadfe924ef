/** Checks of the options that say who the crawler is and how it gets to servers. */

import { invalidOption } from '../errors.js'
import type { Resolver } from '../fetch/dns/resolver.js'
import { checkAccess, type AccessOptions as FetchAccess } from '../fetch/http/access/access.js'
import { parseUrl } from '../url/canonicalize.js'
import { record } from './check.js'
import type { NetworkOptions } from './options.js'

/** Options that the fetcher checks too; here they have the names of the crawler's methods. */
export function checked<Access extends FetchAccess>(access: Access): Access {
  checkAccess(access, '')
  return access
}

/** Name servers, or a resolver. */
export function dns(
  value: readonly string[] | Resolver | { servers?: readonly string[] },
): Pick<NetworkOptions, 'resolver' | 'dnsServers'> {
  const allowed = "{ servers: ['192.0.2.53', …] } or a resolver (with resolve())"
  if (typeof (value as Partial<Resolver> | null)?.resolve === 'function') {
    return { resolver: value as Resolver, dnsServers: undefined }
  }
  const { servers } = record('dns', value, ['servers'])
  const isList =
    Array.isArray(servers) && servers.length > 0 && servers.every((each) => typeof each === 'string')
  if (!isList) throw invalidOption('dns', value, allowed)
  return { resolver: undefined, dnsServers: servers }
}

/** Host names, without scheme, path and port. None: all hosts. */
export function privateHosts(hosts: readonly unknown[]): NetworkOptions['allowPrivate'] {
  if (hosts.length === 0) return 'all'
  return hosts.map((host) => {
    const name = typeof host === 'string' ? nameOf(host) : undefined
    if (name === undefined) {
      const allowed = "host names or addresses such as 'intranet.example' or '10.0.0.7'; nothing for all"
      throw invalidOption('allowPrivate', host, allowed)
    }
    return name
  })
}

/** As connections know it: as in a canonical URL, an IPv6 address without its brackets. */
function nameOf(host: string): string | undefined {
  const written = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  const parsed = parseUrl(`http://${written}/`)
  return parsed !== undefined && parsed.href === `http://${parsed.hostname}/`
    ? parsed.hostname.replace(/^\[|\]$/g, '')
    : undefined
}
