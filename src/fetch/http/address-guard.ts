/**
 * Keeps crawls on public addresses. A page may link to `http://169.254.169.254/`, or to a name that resolves to
 * `10.0.0.1`; following the link would expose the crawler's own network to whoever wrote the page.
 */

import { isIP, isIPv4 } from 'node:net'
import { require } from '../../require.js'
import type { MaybePromise } from '../../types.js'

let ranges: typeof import('ipaddr.js') | undefined

/** Loads what `isPublic` needs, so that a fetcher without it fails before its first request. */
export function loadRanges(): typeof import('ipaddr.js') {
  ranges ??= require('ipaddr.js') as typeof import('ipaddr.js')
  return ranges
}

/**
 * The hosts of the seeds, which may have private addresses. Hosts are spelled as in a canonical URL, with the port unless
 * it is the scheme's default: a seed on one port of a machine does not allow others.
 */
export interface TrustedHosts {
  has(host: string): boolean
  /**
   * Whether the first addresses that the host ever had were private. `isPrivate` describes the current ones, which count
   * if they are the first. A public name that later resolves to a private address is no longer trusted.
   */
  wasPrivate(host: string, isPrivate: boolean): MaybePromise<boolean>
}

/**
 * Whether an address belongs to the public internet.
 *
 * Special-purpose addresses do not: private, loopback, link-local, metadata services of clouds, carrier-grade
 * NAT, unique local, multicast, reserved, documentation, benchmarking, broadcast, unspecified. Neither do IPv6 addresses
 * outside of 2000::/3, which IANA has not allocated. An IPv4-mapped IPv6 address counts as the IPv4 address, because the
 * system connects to that. Other embeddings of IPv4 in IPv6 (compatible, translated, NAT64, 6to4, Teredo) are not
 * public: where they lead depends on the gateways of the network. Text that is not a plain address, or that names an
 * interface (`fe80::1%eth0`), is not public either.
 */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%') || isCompatible(address)) return false
  const parsed = parse(address)
  if (parsed.range() !== 'unicast' || METADATA.has(parsed.toString())) return false
  return !('parts' in parsed) || parsed.parts[0]! >> 13 === GLOBAL_UNICAST
}

/**
 * Whether a seed's host may have this address. Link-local addresses and metadata services are never what a seed means.
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

/** Metadata services outside of the link-local range: Azure, Alibaba, Oracle, AWS (three services), Google. */
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

/** `::8.8.8.8`, which ipaddr.js treats as `::ffff:8.8.8.8`; the system does not. */
function isCompatible(address: string): boolean {
  return address.startsWith('::') && isIPv4(address.slice(2))
}

/** The IPv4 addresses that an IPv6 address may embed: in its last 32 bits, by 6to4, and by Teredo. */
function carriedBy(parts: readonly number[]): string[] {
  const [, second = 0, third = 0] = parts
  const [high = 0, low = 0] = parts.slice(6)
  return [dotted(high, low), dotted(second, third), dotted(high ^ 0xffff, low ^ 0xffff)]
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

const WHY_NOT_A_SEED = 'the host of a seed may be private only if it always was, and never link-local'

/** A connection was refused because of the host's address. The crawl reports it as `address-refused`. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError'
  readonly code = 'KUMO_ADDRESS_REFUSED'
  /** What happened, to follow the host in a sentence. */
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
