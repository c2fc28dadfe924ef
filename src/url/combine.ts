/** Rules out of rules: everything that may stand for a rule can be combined with all, any and not. */

import { KumoError } from '../errors.js'
import { anywhere, glob, matching, pathPrefix, predicate, sameHost, sameOrigin, sameSite } from './rules.js'
import type { ScopeLike, ScopeRule, ScopeTest } from './scope.js'

/**
 * In scope if every one of these says yes. They are asked in this order, up to the first no.
 *
 * @example
 * all(sameSite(), not('/**.pdf'), (target) => target.depth < 5)
 */
export function all(...likes: ScopeLike[]): ScopeRule {
  return combined('all', likes, (tests) => (target) => tests.every((part) => part.test(target)))
}

/**
 * In scope if one of these says yes. They are asked in this order, up to the first yes.
 *
 * @example
 * any(sameHost(), 'docs.example.com', /\/help\//)
 */
export function any(...likes: ScopeLike[]): ScopeRule {
  return combined('any', likes, (tests) => (target) => tests.some((part) => part.test(target)))
}

/**
 * In scope if none of these says yes.
 *
 * @example
 * not('/login', '/cart/**')
 */
export function not(...likes: ScopeLike[]): ScopeRule {
  return combined('not', likes, (tests) => (target) => !tests.some((part) => part.test(target)))
}

/**
 * The rule that something stands for: a rule for itself, a string for a glob, a regular expression for a search
 * in the URL, a function for a test.
 *
 * @example
 * toRule('/blog/**').name // 'glob /blog/**'
 */
export function toRule(like: ScopeLike): ScopeRule {
  if (typeof like === 'string') return glob(like)
  if (like instanceof RegExp) return matching(like)
  if (typeof like === 'function') {
    if (MAKERS.has(like)) {
      throw invalid(
        `"${like.name}" is a function that makes a scope rule: write ${like.name}(), with parentheses`,
      )
    }
    return predicate(like)
  }
  if (isRule(like)) return like
  throw invalid(
    'A scope takes a rule such as sameSite(), a glob such as "/blog/**", a regular expression or a function, ' +
      `not ${describe(like)}`,
  )
}

/** As a predicate each of these would return a rule, which is not an answer. */
const MAKERS: ReadonlySet<unknown> = new Set<unknown>([
  anywhere,
  sameOrigin,
  sameHost,
  sameSite,
  pathPrefix,
  glob,
  matching,
  predicate,
  all,
  any,
  not,
])

function combined(
  word: string,
  likes: readonly ScopeLike[],
  decide: (parts: readonly ScopeTest[]) => ScopeTest['test'],
): ScopeRule {
  // No rules at all is more often an empty list in a configuration than a wish for everything or nothing.
  if (likes.length === 0) throw invalid(`${word}() needs at least one scope rule`)
  const rules = likes.map(toRule)
  return {
    name: `${word}(${rules.map((rule) => rule.name).join(', ')})`,
    start() {
      const parts = rules.map((rule) => rule.start())
      return {
        perOrigin: parts.every((part) => part.perOrigin),
        async open() {
          await Promise.all(parts.map((part) => part.open?.()))
        },
        addSeed(url) {
          for (const part of parts) part.addSeed?.(url)
        },
        test: decide(parts),
      }
    },
  }
}

function isRule(like: unknown): like is ScopeRule {
  if (typeof like !== 'object' || like === null) return false
  const { name, start } = like as Partial<ScopeRule>
  return typeof name === 'string' && typeof start === 'function'
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array (combine rules with all() or any())'
  if (typeof value === 'object' && value !== null) return 'an object without name and start()'
  return String(value)
}

function invalid(message: string): KumoError {
  return new KumoError('KUMO_INVALID_OPTION', `${message}.`)
}
