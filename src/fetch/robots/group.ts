/**
 * What a robots.txt says to one crawler. Most of a large file speaks to others, so only this is kept. Which lines belong
 * to whom follows Google's parser, which is kinder to odd files than the standard: a `Sitemap` or an unknown line does
 * not end a group, and of `User-agent: Bot/2.1 (x)` only `Bot` counts.
 */

import { spellEscapes } from '../../url/canonicalize.js'
import { readLines } from './lines.js'
import { type RuleSet, Rules } from './rules.js'

/** The lines for one crawler: those of the groups that name it, or of those for `*` if none does. */
export interface Group {
  readonly rules: Rules
  /** The pause asked for, in seconds. */
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

/** The group of the crawler that goes by this name. `spell` brings a rule, given as bytes, into the form to compare. */
export function groupFor(bytes: string, agent: string, spell: (pattern: string) => string): Group {
  const name = agent.toLowerCase()
  const everyone: Gathered = { rules: new Map(), delay: undefined }
  let ours: Gathered | undefined
  // Only a rule ends a run of agent lines; for delays, a delay does so too.
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

/** The group as a robots.txt of its own, which read again says the same; empty if it says nothing. */
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
 * A rule as canonical URLs are spelled, so that `/%7Ejoe` closes `/~joe` and `/a b` closes `/a%20b` (RFC 9309, 2.2.2):
 * whoever asks with a canonical URL has lost the spelling that the rule may have had in mind.
 */
export function canonicalPattern(pattern: string): string {
  const question = pattern.indexOf('?')
  if (question < 0) return spellEscapes(pattern.replace(UNSPELLED_IN_PATH, escaped))
  const path = pattern.slice(0, question).replace(UNSPELLED_IN_PATH, escaped)
  return spellEscapes(path + pattern.slice(question).replace(UNSPELLED_IN_QUERY, escaped))
}

/**
 * A path as rules are compared with it. In a rule `*` and a final `$` are wildcards, and whoever means the characters
 * writes `%2A` and `%24` (RFC 9309, 2.2.3); so the characters of a path, and a `$` inside of a rule, become those.
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

/** Whom the current run of agent lines addresses. */
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

/** Every name that the file speaks to, as `groupFor` would find it. */
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
 * A name is letters, `_` and `-` (RFC 9309, 2.2.1), so what follows is ignored: `Bot/2.1`, `bot two`. A crawler whose
 * name has digits would then never be named, so its whole name counts as well.
 */
function namesOf(value: string): readonly string[] {
  const lower = value.toLowerCase()
  return [/^[a-z_-]*/.exec(lower)![0], /^[^\t-\r /]*/.exec(lower)![0]]
}

function addRule(rules: RuleSet, pattern: string, allows: boolean): void {
  // A rule without a path matches nothing; it only makes the group count.
  if (pattern === '') return
  rules.set(pattern, allows || rules.get(pattern) === true)
  if (!allows) return
  const slash = pattern.lastIndexOf('/')
  // Who lets the index page of a directory be read means the directory too; Google's matcher says so as well.
  if (slash >= 0 && pattern.startsWith(INDEX_PAGE, slash))
    addRule(rules, `${pattern.slice(0, slash + 1)}$`, true)
}

/** The longer of two delays; what is no number of seconds is ignored. */
function longer(delay: number | undefined, value: string): number | undefined {
  const seconds = Number.parseFloat(value)
  if (!(seconds >= 0) || seconds === Number.POSITIVE_INFINITY) return delay
  return Math.max(delay ?? 0, seconds)
}
