/**
 * Queries A and AAAA records of a name and merges the results. Node's `Resolver` (c-ares) has its own sockets, so it does
 * not occupy the pool of four threads that `dns.lookup` uses.
 */

import type { Resolver as DnsClient } from 'node:dns/promises'
import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { type Clock, LATE, within } from '../../time.js'
import { isShortage } from '../http/failures.js'

/** An IP address, in the form that `net.connect` expects. */
export interface Address {
  readonly address: string
  readonly family: 4 | 6
}

/** Why there is no address, as a code that failures.ts knows. */
export type LookupCode =
  /** The name does not exist, or has no address. */
  | 'ENOTFOUND'
  /** No name server answered in time. */
  | 'EAI_AGAIN'
  /** The name server reported a failure. */
  | 'EAI_FAIL'
  /** The resolver was closed. */
  | 'ECANCELLED'
  /** No query was sent, because this process cannot open another file or socket. */
  | 'EMFILE'

/** The result for a name. */
export type Answer =
  | { readonly addresses: readonly Address[]; readonly ttlMs: number }
  | { readonly code: LookupCode }

/** Per family. Names with more use them for load balancing, and one connection needs one. Bounds the cost of a name. */
const MOST_ADDRESSES = 8

/** How long to wait for the second family (RFC 8305, section 3). Some servers never answer AAAA queries. */
const IPV6_GRACE_MS = 50

const REFUSED = 'ECONNREFUSED'

const MEANING: Readonly<Record<string, LookupCode>> = {
  ENOTFOUND: 'ENOTFOUND',
  ENODATA: 'ENOTFOUND',
  EBADNAME: 'ENOTFOUND',
  ETIMEOUT: 'EAI_AGAIN',
  [REFUSED]: 'EAI_AGAIN',
  ECANCELLED: 'ECANCELLED',
}

/** In increasing order of weight: a failure of one family outweighs that the other has no records. */
const BY_WEIGHT: readonly LookupCode[] = ['ENOTFOUND', 'EAI_FAIL', 'EAI_AGAIN', 'EMFILE', 'ECANCELLED']

interface Reply {
  readonly addresses: readonly Address[]
  readonly ttlMs: number
  readonly code: LookupCode
}

/** A late reply counts as empty: the other family has addresses, and both are queried again when those expire. */
const LATE_REPLY: Reply = { addresses: [], ttlMs: Number.POSITIVE_INFINITY, code: 'ENOTFOUND' }

/** Queries both families at once. Never rejects. */
export async function askBoth(client: DnsClient, name: string, clock: Clock): Promise<Answer> {
  const asked4 = ask(() => client.resolve4(name, { ttl: true }), 4)
  const asked6 = ask(() => client.resolve6(name, { ttl: true }), 6)
  const reply4 = await asked4
  const reply6 = reply4.addresses.length > 0 ? await within(clock, IPV6_GRACE_MS, asked6) : await asked6
  return merge(reply4, reply6 === LATE ? LATE_REPLY : reply6)
}

async function ask(
  question: () => Promise<readonly { address: string; ttl: number }[]>,
  family: 4 | 6,
): Promise<Reply> {
  try {
    const records = (await question()).slice(0, MOST_ADDRESSES)
    const addresses = records.map(({ address }) => ({ address, family }))
    return { addresses, ttlMs: Math.min(...records.map(({ ttl }) => ttl)) * 1000, code: 'ENOTFOUND' }
  } catch (error) {
    const { code: said = '' } = error as { code?: string }
    const code = said === REFUSED && isOutOfFiles() ? 'EMFILE' : (MEANING[said] ?? 'EAI_FAIL')
    return { addresses: [], ttlMs: Number.POSITIVE_INFINITY, code }
  }
}

/** c-ares reports "refused" also when it cannot open a socket; only trying to open a file tells the two apart. */
function isOutOfFiles(): boolean {
  try {
    closeSync(openSync(devNull, 'r'))
    return false
  } catch (error) {
    return isShortage(error)
  }
}

function merge(reply4: Reply, reply6: Reply): Answer {
  const addresses = interleave(reply4.addresses, reply6.addresses)
  if (addresses.length > 0) return { addresses, ttlMs: Math.min(reply4.ttlMs, reply6.ttlMs) }
  const code = BY_WEIGHT.findLast((each) => each === reply4.code || each === reply6.code)
  return { code: code ?? 'ENOTFOUND' }
}

/**
 * Alternates families, so that a machine with only one of them soon reaches a usable address. IPv4 comes first, because
 * many machines have no IPv6 route.
 */
function interleave(first: readonly Address[], second: readonly Address[]): Address[] {
  const mixed: Address[] = []
  for (let i = 0; i < Math.max(first.length, second.length); i++) {
    if (first[i]) mixed.push(first[i]!)
    if (second[i]) mixed.push(second[i]!)
  }
  return mixed
}
