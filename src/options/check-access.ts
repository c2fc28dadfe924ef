/** Checks of the options that say who the crawler is and how it gets to servers. */

import { KumoError, messageOf } from '../errors.js'
import type { Resolver } from '../fetch/dns/resolver.js'
import { checkAccess, type AccessOptions as FetchAccess } from '../fetch/http/access/access.js'
import { parseUrl } from '../url/canonicalize.js'
import { invalidOption, record } from './check.js'
import type { NetworkOptions } from './options.js'

/** Options that the fetcher checks itself; its words, with the name by which a crawler knows them. */
export function checked<Access extends FetchAccess>(access: Access): Access {
  try {
    checkAccess(access)
    return access
  } catch (error) {
    const message = messageOf(error).replace(/^httpFetcher\./, '')
    throw new KumoError('KUMO_INVALID_OPTION', message, { cause: error })
  }
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

const PRIVATE_HOSTS =
  "host names or addresses such as 'intranet.example' or '10.0.0.7', or 'all' alone for every host"

/** Host names, without scheme, path and port; or `'all'`. */
export function privateHosts(hosts: readonly unknown[]): NetworkOptions['allowPrivate'] {
  // An empty list, as a program may have computed it, must not open every door.
  if (hosts.length === 0) throw invalidOption('allowPrivate', undefined, PRIVATE_HOSTS)
  if (hosts.length === 1 && hosts[0] === 'all') return 'all'
  return hosts.map((host) => {
    const name = typeof host === 'string' && host !== 'all' ? nameOf(host) : undefined
    if (name === undefined) throw invalidOption('allowPrivate', host, PRIVATE_HOSTS)
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
