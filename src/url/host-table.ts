/** Finds what applies to a host among rules for host names and wildcards. */

import { parseUrl } from './canonicalize.js'

/** A rule for `example.com`, `example.com:8080`, `*.example.com` or `*.example.com:8080`; spelled by `hostPattern`. */
export interface HostRuleBase {
  readonly pattern: string
  /** Merged by name; every other field is replaced by a more specific rule. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

const WILDCARD = '*.'
const DEFAULT_PORT = /^(.*[^:]):(?:80|443)$/
/** With the longest host names about 3 MB. Beyond it the cache is cleared. */
const MAX_CACHED = 10_000

/**
 * The spelling of a pattern for hosts, as `CrawlRequest.host` is spelled; undefined if it is none. `*.` matches every
 * subdomain and not the domain itself. Without a port, a pattern matches every port.
 *
 * @example
 * hostPattern('*.Example.com') // '*.example.com'
 */
export function hostPattern(written: string): string | undefined {
  const isWildcard = written.startsWith(WILDCARD)
  const name = isWildcard ? written.slice(WILDCARD.length) : written
  // A port that a canonical host does not show could never match.
  if (name === '' || DEFAULT_PORT.test(name)) return undefined
  const isBareIpv6 = /^[\da-f.]*:[\da-f.:]*:[\da-f.:]*$/i.test(name)
  const parsed = parseUrl(`http://${isBareIpv6 ? `[${name}]` : name}/`)
  if (parsed === undefined || parsed.href !== `http://${parsed.host}/` || parsed.host.includes('*'))
    return undefined
  return isWildcard ? WILDCARD + parsed.host : parsed.host
}

/**
 * A function that returns what applies to a host, from all rules that match it: of each field, the value of the most
 * specific rule that has one. A name comes before wildcards, a longer wildcard before a shorter one, and a pattern with a
 * port before the same without. Undefined: no rule matches.
 */
export function hostTable<Rule extends HostRuleBase>(
  rules: readonly Rule[],
): (host: string) => Rule | undefined {
  const byPattern = new Map<string, Rule>()
  for (const rule of rules) byPattern.set(rule.pattern, merged(byPattern.get(rule.pattern), rule))
  const found = new Map<string, Rule | undefined>()
  const find = (host: string): Rule | undefined => {
    let result: Rule | undefined
    // From the most specific: what a rule leaves open, the next one decides.
    for (const pattern of patternsFor(host)) {
      const rule = byPattern.get(pattern)
      if (rule !== undefined) result = result === undefined ? rule : merged(rule, result)
    }
    return result
  }
  return (host) => {
    if (found.has(host)) return found.get(host)
    if (found.size >= MAX_CACHED) found.clear()
    const rule = find(host)
    found.set(host, rule)
    return rule
  }
}

/** All patterns that match a host, most specific first. */
function* patternsFor(host: string): Generator<string> {
  const name = host.replace(/:\d+$/, '')
  const hasPort = name !== host
  const port = host.slice(name.length)
  if (hasPort) yield host
  yield name
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    const parent = WILDCARD + name.slice(dot + 1)
    if (hasPort) yield parent + port
    yield parent
  }
}

/** The fields of both; those of `over` where both have them. */
function merged<Rule extends HostRuleBase>(under: Rule | undefined, over: Rule): Rule {
  if (under === undefined) return over
  const headers = (under.headers ?? over.headers) && { ...under.headers, ...over.headers }
  const given = Object.entries(over).filter(([, value]) => value !== undefined)
  return { ...under, ...Object.fromEntries(given), ...(headers && { headers }) }
}
