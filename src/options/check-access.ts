/** Checks of the options that say who the crawler is and how it connects to servers. */

import { invalidOption } from '../errors.js'
import { type AccessOptions, checkAccess } from '../fetch/http/access/access.js'
import { parseUrl } from '../url/canonicalize.js'
import { record } from './check.js'
import { meantServers } from './meant.js'
import type { NetworkOptions } from './options.js'

/** Options that the fetcher checks too; here they have the names of the crawler's methods. */
export function checked<Access extends AccessOptions>(access: Access): Access {
  checkAccess(access, '')
  return access
}

export function dnsServers(value: unknown): readonly string[] {
  const meant = meantServers(value)
  if (meant !== '') throw invalidOption('dns', value, `{ servers }${meant}`)
  const { servers } = record('dns', value, ['servers'])
  const isList =
    Array.isArray(servers) && servers.length > 0 && servers.every((each) => typeof each === 'string')
  if (isList) return servers
  throw invalidOption('dns', value, "{ servers: ['192.0.2.53', …] } or a resolver (with resolve())")
}

/** `'all'`, or host names without scheme, path and port. */
export function privateHosts(hosts: readonly unknown[]): NetworkOptions['allowPrivate'] {
  if (hosts.length === 1 && hosts[0] === 'all') return 'all'
  const allowed = "host names or addresses such as 'intranet.example' or '10.0.0.7', or 'all' alone"
  if (hosts.length === 0) throw invalidOption('allowPrivate', undefined, allowed)
  return hosts.map((host) => {
    const name = typeof host === 'string' && host !== 'all' ? nameOf(host) : undefined
    if (name === undefined) throw invalidOption('allowPrivate', host, allowed)
    return name
  })
}

/** The name as in a canonical URL, which the address guard compares; an IPv6 address without brackets. */
function nameOf(host: string): string | undefined {
  const written = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  const parsed = parseUrl(`http://${written}/`)
  return parsed !== undefined && parsed.href === `http://${parsed.hostname}/`
    ? parsed.hostname.replace(/^\[|\]$/g, '')
    : undefined
}
