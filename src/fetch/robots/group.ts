/**
 * The group of a robots.txt that applies to one crawler. Most of a large file is for other crawlers, so only this part is
 * kept. Groups are formed as Google's parser does, which is more lenient than RFC 9309: a `Sitemap` or unknown line does
 * not end a group, and of `User-agent: Bot/2.1 (x)` only `Bot` counts.
 */

import { spellEscapes } from '../../url/canonicalize.js'
import { readLines } from './lines.js'
import { type RuleSet, Rules } from './rules.js'

/** The merged groups that name a crawler, or the groups for `*` if none does. */
export interface Group {
  readonly rules: Rules
  /** The Crawl-delay in seconds. */
  readonly delay: number | undefined
}

interface Gathered {
  readonly rules: RuleSet
  delay: number | undefined
}

/** A `$` that is not the last character stands for itself. */
const INNER_DOLLAR = /\$(?!$)/g
/** What a path may spell in other ways than rules do. */
const UNSPELLED_IN_ADDRESS = /[$*]|%(?:[0-9A-Fa-f][a-f]|[a-f][0-9A-F])/g
/** What is not written as it is compared: bytes beyond ASCII, and escapes in lower case. */
const UNESCAPED = /[\x80-\xff]+|%(?:[0-9A-Fa-f][a-f]|[a-f][0-9A-F])/g
/** What a canonical URL has escaped, in its path and in its query. */
const UNSPELLED_IN_PATH = /[\0-\x20"<>^`{}\x7f-\xff]+/g
const UNSPELLED_IN_QUERY = /[\0-\x20"<>'\x7f-\xff]+/g
const ESCAPES = Array.from(
  { length: 256 },
  (_, byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
)

const INDEX_PAGE = '/index.htm'

/** The group for a product token. `spell` brings a rule, given as bytes, into the form in which it is compared. */
export function groupFor(bytes: string, agent: string, spell: (pattern: string) => string): Group {
  const name = agent.toLowerCase()
  const everyone: Gathered = { rules: new Map(), delay: undefined }
  let ours: Gathered | undefined
  // Only a rule ends a run of user-agent lines; for delays, a Crawl-delay does so too.
  const forRules = new Addressees()
  const forDelays = new Addressees()

  readLines(bytes, (field, value) => {
    switch (field) {
      case 'agent': {
        const addressed = addresseeOf(value, name)
        forRules.name(addressed)
        forDelays.name(addressed)
        if (addressed === 'us') ours ??= { rules: new Map(), delay: undefined }
        return
      }
      case 'delay': {
        forDelays.end()
        const group = forDelays.us ? ours : forDelays.everyone ? everyone : undefined
        if (group !== undefined) group.delay = longer(group.delay, value)
        return
      }
      case 'allow':
      case 'disallow': {
        forRules.end()
        forDelays.end()
        const group = forRules.us ? ours : forRules.everyone && ours === undefined ? everyone : undefined
        if (group !== undefined) addRule(group.rules, plainDollars(spell(value)), field === 'allow')
        return
      }
    }
  })
  const { rules, delay } = ours ?? everyone
  return { rules: new Rules(rules), delay }
}

/** The group as a robots.txt that parses to the same group; empty if the group has no lines. */
export function groupText({ rules, delay }: Group): string {
  const lines = Array.from(rules, ([pattern, allows]) => `${allows ? 'allow' : 'disallow'}: ${pattern}`)
  if (delay !== undefined) lines.push(`crawl-delay: ${delay}`)
  return lines.length === 0 ? '' : `user-agent: *\n${lines.join('\n')}\n`
}

/**
 * Bytes beyond ASCII as escapes, and escapes in upper case. Nothing else: a rule is compared with a URL as both are
 * written.
 */
export function escapePattern(pattern: string): string {
  return pattern.replace(UNESCAPED, (found) => (found[0] === '%' ? found.toUpperCase() : escaped(found)))
}

/**
 * A rule in the spelling of canonical URLs, so that `/%7Ejoe` matches `/~joe` and `/a b` matches `/a%20b` (RFC 9309,
 * 2.2.2): a canonical URL no longer has the spelling that the rule may have been written for.
 */
export function canonicalPattern(pattern: string): string {
  const question = pattern.indexOf('?')
  if (question < 0) return spellEscapes(pattern.replace(UNSPELLED_IN_PATH, escaped))
  const path = pattern.slice(0, question).replace(UNSPELLED_IN_PATH, escaped)
  return spellEscapes(path + pattern.slice(question).replace(UNSPELLED_IN_QUERY, escaped))
}

/**
 * A path in the form that rules are compared with. In a rule `*` and a final `$` are special, and the characters
 * themselves are written `%2A` and `%24` (RFC 9309, 2.2.3), so they are escaped in paths, and `$` inside of rules.
 */
export function comparable(path: string): string {
  return path.replace(UNSPELLED_IN_ADDRESS, (found) =>
    found[0] === '%' ? found.toUpperCase() : escaped(found),
  )
}

function plainDollars(pattern: string): string {
  return pattern.replace(INNER_DOLLAR, escaped)
}

function escaped(bytes: string): string {
  let text = ''
  for (let i = 0; i < bytes.length; i++) text += ESCAPES[bytes.charCodeAt(i)]
  return text
}

/** Which crawlers the current run of user-agent lines names. */
class Addressees {
  us = false
  everyone = false
  #ended = false

  name(addressee: 'us' | 'everyone' | undefined): void {
    if (this.#ended) this.us = this.everyone = this.#ended = false
    if (addressee !== undefined) this[addressee] = true
  }

  end(): void {
    this.#ended = true
  }
}

/** Every product token that the file names, as `groupFor` matches it. */
export function namesIn(bytes: string): Set<string> {
  const names = new Set<string>()
  readLines(bytes, (field, value) => {
    if (field === 'agent') for (const name of namesOf(value)) names.add(name)
  })
  return names
}

function addresseeOf(value: string, name: string): 'us' | 'everyone' | undefined {
  if (/^\*(?:[\t-\r ]|$)/.test(value)) return 'everyone'
  return name !== '' && namesOf(value).includes(name) ? 'us' : undefined
}

/**
 * A product token has letters, `_` and `-` only (RFC 9309, 2.2.1), so the rest is ignored: `Bot/2.1`, `bot two`. A
 * crawler with digits in its name would never match then, so the whole word counts as well.
 */
function namesOf(value: string): readonly string[] {
  const lower = value.toLowerCase()
  return [/^[a-z_-]*/.exec(lower)![0], /^[^\t-\r /]*/.exec(lower)![0]]
}

function addRule(rules: RuleSet, pattern: string, allows: boolean): void {
  // A rule without a path matches nothing, but its group still applies.
  if (pattern === '') return
  rules.set(pattern, allows || rules.get(pattern) === true)
  if (!allows) return
  const slash = pattern.lastIndexOf('/')
  // An allowed index page allows its directory too, as in Google's matcher.
  if (slash >= 0 && pattern.startsWith(INDEX_PAGE, slash))
    addRule(rules, `${pattern.slice(0, slash + 1)}$`, true)
}

/** The longer of two delays; a value that is not a number of seconds is ignored. */
function longer(delay: number | undefined, value: string): number | undefined {
  const seconds = Number.parseFloat(value)
  if (!(seconds >= 0) || seconds === Number.POSITIVE_INFINITY) return delay
  return Math.max(delay ?? 0, seconds)
}
