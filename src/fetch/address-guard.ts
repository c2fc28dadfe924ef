/**
 * Which addresses the public internet can reach. A page may link to `http://169.254.169.254/` or to a name whose
 * address is `10.0.0.1`; a crawler that followed would read, for a stranger, what only its own network may read.
 */

import { isIP, isIPv4 } from 'node:net'
import { require } from '../require.js'

let ranges: typeof import('ipaddr.js') | undefined

/** Loads what `isPublic` needs, so that a fetcher which lacks it fails before its first request. */
export function loadRanges(): typeof import('ipaddr.js') {
  ranges ??= require('ipaddr.js') as typeof import('ipaddr.js')
  return ranges
}

/**
 * Whether an address belongs to the public internet.
 *
 * Everything with a special purpose does not: private, loopback, link-local (and with it the metadata services of
 * clouds), carrier-grade NAT, unique local, multicast, reserved, documentation, benchmarking, broadcast, unspecified.
 * An IPv4 address that is mapped into IPv6 counts as itself, because the system connects to it as such. Other ways of
 * carrying IPv4 in IPv6 (compatible, translated, NAT64, 6to4, Teredo) are not public, whatever they carry: where they
 * lead depends on the gateways of the network, not on the address. What is not an address in its usual notation, or
 * names an interface (`fe80::1%eth0`), is not public either.
 */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%') || isCompatible(address)) return false
  const ipaddr = loadRanges()
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  return parsed instanceof ipaddr.IPv4 || !holdsOldIPv4(parsed.parts)
}

/** `::8.8.8.8`, which ipaddr.js takes for `::ffff:8.8.8.8`; the system does not. */
function isCompatible(address: string): boolean {
  return address.startsWith('::') && isIPv4(address.slice(2))
}

/** ::/64 held such addresses in any spelling (`::7f00:1`). ipaddr.js has no word for them; nothing else is there. */
function holdsOldIPv4(parts: readonly number[]): boolean {
  return parts[0] === 0 && parts[1] === 0 && parts[2] === 0 && parts[3] === 0
}

/** A host was not connected to, because of its address. The crawl reports it as `address-refused`. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError'
  readonly code = 'KUMO_ADDRESS_REFUSED'
  /** What happened, as the rest of a sentence that began with the host. */
  readonly what: string

  constructor(
    readonly hostname: string,
    readonly address: string,
  ) {
    const itself = hostname === address ? 'is' : `has the address ${address}, which is`
    const what = `${itself} not part of the public internet; to allow it, name the host as a seed or use allowPrivate()`
    super(`${hostname} ${what}.`)
    this.what = what
  }
}
