/** What `host()` means for each part of a crawl. Every function returns undefined if no host has such an option. */

import type { RetryCounts } from '../engine/visit/retry.js'
import type { HostAccess } from '../fetch/http/access/access.js'
import type { RobotsGate } from '../fetch/robots/contract.js'
import { productName } from '../fetch/robots/gate.js'
import type { HostPoliteness } from '../frontier/contract.js'
import type { HostRule } from '../options/hosts.js'
import type { CrawlOptions } from '../options/options.js'
import type { CrawlRequest } from '../types.js'
import { hostTable } from '../url/host-table.js'

type Given = Pick<CrawlOptions, 'hosts'>
type Paced = Given & Pick<CrawlOptions, 'delayMs' | 'perHost'>

/** The rules, if one of them has such a field. */
function rulesWith(
  { hosts }: Given,
  ...fields: readonly (keyof HostRule)[]
): ((host: string) => HostRule | undefined) | undefined {
  const isUsed = hosts.some((rule) => fields.some((field) => rule[field] !== undefined))
  return isUsed ? hostTable(hosts) : undefined
}

export function hostPoliteness(options: Paced): HostPoliteness | undefined {
  const of = rulesWith(options, 'delayMs', 'connections')
  if (of === undefined) return undefined
  return { of, maxDelayMs: longestDelayMs(options), maxConnections: mostConnections(options) }
}

/** The longest pause after a visit to any host. */
export function longestDelayMs({ hosts, delayMs }: Given & Pick<CrawlOptions, 'delayMs'>): number {
  return Math.max(delayMs, ...hosts.map((rule) => rule.delayMs ?? 0))
}

/** The largest number of connections to any host. */
export function mostConnections({ hosts, perHost }: Given & Pick<CrawlOptions, 'perHost'>): number {
  return Math.max(perHost.connections, ...hosts.map((rule) => rule.connections ?? 0))
}

/** How the fetcher reaches the hosts. `isTrusted`: whether an origin is that of a seed. */
export function hostAccess(
  options: Given,
  isTrusted: (origin: string) => boolean,
): ((origin: string) => HostAccess | undefined) | undefined {
  const of = rulesWith(options, 'userAgent', 'headers', 'auth', 'proxy', 'connections')
  return (
    of &&
    ((origin) => {
      const rule = of(origin.slice(origin.indexOf('//') + 2))
      if (rule?.auth === undefined) return rule && { ...rule, auth: undefined }
      const { authorization, hasPort } = rule.auth
      // A link to the http version of an https host must not make the credentials readable on the way.
      const isSent = hasPort || origin.startsWith('https:') || isTrusted(origin)
      return { ...rule, auth: isSent ? authorization : 'withheld' }
    })
  )
}

export function hostRetries(
  options: Given,
): ((host: string) => Partial<RetryCounts> | undefined) | undefined {
  const of = rulesWith(options, 'times', 'statuses')
  return (
    of &&
    ((host) => {
      const { times, statuses } = of(host) ?? {}
      return { ...(times !== undefined && { times }), ...(statuses && { statuses: new Set(statuses) }) }
    })
  )
}

/** Most pages of a host; undefined for a host without a rule. */
export function hostPages(options: Given): ((host: string) => number | undefined) | undefined {
  const of = rulesWith(options, 'maxPages')
  return of && ((host) => of(host)?.maxPages)
}

/** The user agent of a host; undefined for a host without a rule. */
export function hostAgents(options: Given): ((host: string) => string | undefined) | undefined {
  const of = rulesWith(options, 'userAgent')
  return of && ((host) => of(host)?.userAgent)
}

/** The product name, in lower case, by which pages of a host may address this crawler. */
export function productOf(options: Given & Pick<CrawlOptions, 'userAgent'>): (host: string) => string {
  const product = productName(options.userAgent).toLowerCase()
  const agentOf = hostAgents(options)
  if (agentOf === undefined) return () => product
  return (host) => {
    const agent = agentOf(host)
    return agent === undefined ? product : productName(agent).toLowerCase()
  }
}

/**
 * The gate, which also asks for the pauses of `host()` that are longer than usual: schedules of revisits, and frontiers
 * that know nothing of `Politeness.hosts`, respect them too.
 */
export function withHostDelays(gate: RobotsGate, options: Paced): RobotsGate {
  const of = rulesWith(options, 'delayMs')
  if (of === undefined) return gate
  const delayMs = (request: CrawlRequest): number | undefined => {
    const asked = gate.delayMs(request)
    const own = of(request.host)?.delayMs ?? 0
    return own > options.delayMs ? Math.max(own, asked ?? 0) : asked
  }
  return {
    check: (request, now) => gate.check(request, now),
    learn: (origin, fetched, outcome, now) => gate.learn(origin, fetched, outcome, now),
    delayMs,
    takeSitemaps: (origin) => gate.takeSitemaps(origin),
    record: (origin) => gate.record?.(origin),
    records: () => gate.records?.() ?? [],
    restore: (record) => gate.restore?.(record),
  }
}
