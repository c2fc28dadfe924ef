/**
 * Which addresses the public internet can reach. A page may link to `http://169.254.169.254/` or to a name whose
 * address is `10.0.0.1`; a crawler that followed would read, for a stranger, what only its own network may read.
 */

import { isIP, isIPv4 } from 'node:net'
import { require } from '../../require.js'
import type { MaybePromise } from '../../types.js'

let ranges: typeof import('ipaddr.js') | undefined

/** Loads what `isPublic` needs, so that a fetcher which lacks it fails before its first request. */
export function loadRanges(): typeof import('ipaddr.js') {
  ranges ??= require('ipaddr.js') as typeof import('ipaddr.js')
  return ranges
}

/**
 * The hosts that the caller named, which may have private addresses. A host is spelled as in a canonical URL, with its
 * port unless that is the scheme's own: naming one port of a machine opens no other.
 */
export interface TrustedHosts {
  has(host: string): boolean
  /**
   * Whether the first addresses that a named host ever had were private; `isPrivate` is what those of now are, which
   * counts if they are the first. A name that was public and moves inside is no longer what the caller named.
   */
  wasPrivate(host: string, isPrivate: boolean): MaybePromise<boolean>
}

/**
 * Whether an address belongs to the public internet.
 *
 * Everything with a special purpose does not: private, loopback, link-local, metadata services of clouds, carrier-grade
 * NAT, unique local, multicast, reserved, documentation, benchmarking, broadcast, unspecified. Nor does what IANA has not
 * given out: of IPv6 only 2000::/3 is. An IPv4 address that is mapped into IPv6 counts as itself, because the system
 * connects to it as such. Other ways of carrying IPv4 in IPv6 (compatible, translated, NAT64, 6to4, Teredo) are not
 * public, whatever they carry: where they lead depends on the gateways of the network, not on the address. What is not an
 * address in its usual notation, or names an interface (`fe80::1%eth0`), is not public either.
 */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%') || isCompatible(address)) return false
  const parsed = parse(address)
  if (parsed.range() !== 'unicast' || METADATA.has(parsed.toString())) return false
  return !('parts' in parsed) || parsed.parts[0]! >> 13 === GLOBAL_UNICAST
}

/**
 * Whether a host may have this address because the caller named it. Link-local addresses and metadata services answer
 * everybody on the machine, and nobody means them by the name of a site.
 */
export function isTrustable(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false
  if (isCompatible(address)) return isTrustable(address.slice(2))
  const parsed = parse(address)
  if (parsed.range() === 'linkLocal' || METADATA.has(parsed.toString())) return false
  return !('parts' in parsed) || carriedBy(parsed.parts).every(isTrustable)
}

/** The first three bits of 2000::/3. */
const GLOBAL_UNICAST = 1

/** Those that are not link-local: Azure, Alibaba, Oracle, AWS (three services), Google. */
const METADATA: ReadonlySet<string> = new Set([
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::253',
  'fd00:ec2::23',
  'fd20:ce::254',
])

function parse(address: string) {
  return loadRanges().process(address)
}

/** `::8.8.8.8`, which ipaddr.js takes for `::ffff:8.8.8.8`; the system does not. */
function isCompatible(address: string): boolean {
  return address.startsWith('::') && isIPv4(address.slice(2))
}

/** The IPv4 addresses that an IPv6 address may stand for: at its end, as 6to4 and as Teredo has it. */
function carriedBy(parts: readonly number[]): string[] {
  const [, second = 0, third = 0] = parts
  const [high = 0, low = 0] = parts.slice(6)
  return [dotted(high, low), dotted(second, third), dotted(high ^ 0xffff, low ^ 0xffff)]
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

const WHY_NOT_A_SEED = 'a seed may be private if it was so from the start, and not link-local'

/** A host was not connected to, because of its address. The crawl reports it as `address-refused`. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError'
  readonly code = 'KUMO_ADDRESS_REFUSED'
  /** What happened, as the rest of a sentence that began with the host. */
  readonly what: string

  constructor(
    readonly hostname: string,
    readonly address: string,
    isNamed = false,
  ) {
    const itself = hostname === address ? 'is' : `has the address ${address}, which is`
    const option = `allowPrivate('${hostname}')`
    const hint = isNamed
      ? `${WHY_NOT_A_SEED}; to allow it all the same, use ${option}`
      : `to allow it, name host and port as a seed or use ${option}`
    const what = `${itself} not part of the public internet; ${hint}`
    super(`${hostname} ${what}.`)
    this.what = what
  }
}
