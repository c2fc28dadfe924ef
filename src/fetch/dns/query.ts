/**
 * One name, two questions (A and AAAA), one answer. Node's `Resolver` sends them over its own sockets (c-ares), so
 * they take no place in the pool of four threads in which `dns.lookup` waits.
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

/** Why there is no address, in words that failures.ts knows. */
export type LookupCode =
  /** The name does not exist, or has no address. */
  | 'ENOTFOUND'
  /** No name server answered in time. */
  | 'EAI_AGAIN'
  /** The name server answered that it cannot tell. */
  | 'EAI_FAIL'
  /** The resolver was closed. */
  | 'ECANCELLED'
  /** Nobody was asked, because this process cannot open another file or socket. */
  | 'EMFILE'

/** What is known of a name. */
export type Answer =
  | { readonly addresses: readonly Address[]; readonly ttlMs: number }
  | { readonly code: LookupCode }

/** Of each family; a name with more has them for balance, and we connect to one. Bounds what a name may cost. */
const MOST_ADDRESSES = 8

/** RFC 8305, section 3: how long the second family may keep the first waiting. Some servers never answer AAAA. */
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

/** From the least to the most telling: what one family could not say outweighs that the other has nothing. */
const BY_WEIGHT: readonly LookupCode[] = ['ENOTFOUND', 'EAI_FAIL', 'EAI_AGAIN', 'EMFILE', 'ECANCELLED']

interface Reply {
  readonly addresses: readonly Address[]
  readonly ttlMs: number
  readonly code: LookupCode
}

/** Late is as if there were none: the other family has addresses, and the next question comes when they expire. */
const LATE_REPLY: Reply = { addresses: [], ttlMs: Number.POSITIVE_INFINITY, code: 'ENOTFOUND' }

/** Asks for both families at once. Never rejects. */
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

/** c-ares says "refused" also when it cannot open a socket; whether that is so, only trying shows. */
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
 * IPv4 first, because a crawler's machine often has no route for IPv6 and loses nothing by it; then in turns, so that
 * a machine with only one family comes to an address of its own soon.
 */
function interleave(first: readonly Address[], second: readonly Address[]): Address[] {
  const mixed: Address[] = []
  for (let i = 0; i < Math.max(first.length, second.length); i++) {
    if (first[i]) mixed.push(first[i]!)
    if (second[i]) mixed.push(second[i]!)
  }
  return mixed
}
