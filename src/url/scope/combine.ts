/** Combines scope rules, and anything that stands for one, with `all`, `any` and `not`. */

import { KumoError, optionError } from '../../errors.js'
import { type Recipe, recipeOf, withRecipe } from '../../modules/recipe.js'
import { pageLanguage } from './page-language.js'
import { prioritized } from './priorities.js'
import { type CombinedRule, peek, startWatched } from './rule-use.js'
import {
  anywhere,
  domain,
  glob,
  matching,
  pathPrefix,
  predicate,
  sameHost,
  sameOrigin,
  sameSite,
} from './rules.js'
import type {
  ScopeAnswer,
  ScopeLike,
  ScopeName,
  ScopePage,
  ScopeRule,
  ScopeTarget,
  ScopeTest,
} from './scope.js'
import { inTable, tablePriorities } from './url-table.js'

const NAMED: Readonly<Record<ScopeName, () => ScopeRule>> = {
  site: sameSite,
  host: sameHost,
  origin: sameOrigin,
  path: pathPrefix,
  all: anywhere,
}

const NAMES = Object.keys(NAMED).map((name) => `'${name}'`)
const ALLOWED = `${NAMES.join(', ')}, a rule such as sameSite(), a glob such as '/blog/**', a RegExp or a function`

/** Neither a path nor a host with a dot, a port or a wildcard. */
const BARE_WORD = /^[\p{L}\p{N}_-]+$/u

/**
 * In scope if all of these match. They are tested in order, up to the first that does not.
 *
 * @example
 * all(sameSite(), not('/**.pdf'), (target) => target.depth < 5)
 */
export function all(...likes: ScopeLike[]): ScopeRule {
  return combined('all', likes, {
    before: (parts, target) => firstDecisive(parts, target, false) ?? true,
    after: (parts, target, page) => parts.every((part) => matchesPage(part, target, page)),
  })
}

/**
 * In scope if any of these matches. They are tested in order, up to the first that does.
 *
 * @example
 * any('host', 'docs.example.com', /\/help\//)
 */
export function any(...likes: ScopeLike[]): ScopeRule {
  return combined('any', likes, {
    before: (parts, target) => firstDecisive(parts, target, true) ?? false,
    after: (parts, target, page) => parts.some((part) => matchesPage(part, target, page)),
  })
}

/**
 * In scope if none of these matches.
 *
 * @example
 * not('/login', '/cart/**')
 */
export function not(...likes: ScopeLike[]): ScopeRule {
  return combined('not', likes, {
    before(parts, target) {
      const answer = firstDecisive(parts, target, true)
      return answer === 'after-fetch' ? answer : answer === undefined
    },
    after: (parts, target, page) => !parts.some((part) => matchesPage(part, target, page)),
  })
}

/**
 * Kleene's logic: the answer that decides (`no` for all, `yes` for any) if a rule gives it, `'after-fetch'` if one may
 * still give it, and undefined if none will.
 */
function firstDecisive(
  parts: readonly ScopeTest[],
  target: ScopeTarget,
  decisive: boolean,
): ScopeAnswer | undefined {
  let answer: ScopeAnswer | undefined
  for (let i = 0; i < parts.length; i++) {
    const each = parts[i]!.test(target)
    if (each === decisive) {
      peek(parts, i + 1, target)
      return each
    }
    if (each === 'after-fetch') answer = each
  }
  return answer
}

function matchesPage(part: ScopeTest, target: ScopeTarget, page: ScopePage): boolean {
  return part.testPage === undefined ? part.test(target) === true : part.testPage(target, page)
}

/**
 * Converts to a rule: a name to the built-in rule of that name, any other string to a glob, a regular expression to a search
 * in the URL, a function to a test. `place` starts error messages unless the value is an option of a crawler.
 *
 * @example
 * toRule('/blog/**').name // 'glob /blog/**'
 */
export function toRule(like: ScopeLike, place = ''): ScopeRule {
  if (typeof like === 'string') return named(like, place) ?? glob(like)
  if (like instanceof RegExp) return matching(like)
  if (typeof like === 'function') {
    if (MAKERS.has(like)) {
      throw notAllowed(place, `the function ${like.name}`, `; write ${like.name}(), with parentheses`)
    }
    return predicate(like)
  }
  if (isRule(like)) return like
  throw notAllowed(place, describe(like))
}

function named(word: string, place: string): ScopeRule | undefined {
  if (!BARE_WORD.test(word)) return undefined
  if (Object.hasOwn(NAMED, word)) return NAMED[word as ScopeName]()
  // As a glob it would match a host of that name, and a misspelled 'site' would silently follow nothing.
  throw notAllowed(place, `'${word}'`, `; for a path: '/${word}'; for a host without a dot: glob('${word}')`)
}

/** Factories whose arguments are data or rules, so that their rules can be recreated. By their name in a recipe. */
const READY: ReadonlyMap<string, (...given: never[]) => ScopeRule> = new Map(
  Object.entries({
    domain,
    anywhere,
    sameOrigin,
    sameHost,
    sameSite,
    pathPrefix,
    glob,
    matching,
    pageLanguage,
    prioritized,
    tablePriorities,
    inTable,
    all,
    any,
    not,
  }),
)

/** As a predicate, each of these would return a rule instead of a boolean. */
const MAKERS: ReadonlySet<unknown> = new Set<unknown>([...READY.values(), predicate])

/**
 * Recreates the rule of a recipe; undefined if its factory is not one of the built-in ones.
 *
 * @example
 * remake(['not', glob('/login')])?.name // 'not(glob /login)'
 */
export function remake([maker, ...given]: Recipe): ScopeRule | undefined {
  return READY.get(maker)?.(...(given as never[]))
}

/** Whether a rule can decide only with the fetched page. */
export function needsPage(rule: ScopeRule): boolean {
  const [maker, ...parts] = recipeOf(rule) ?? ['']
  return maker === 'pageLanguage' || parts.some((part) => isRule(part) && needsPage(part))
}

/** How a combination answers, from the answers of its parts: before the fetch and with the page. */
interface Decision {
  before(parts: readonly ScopeTest[], target: ScopeTarget): ScopeAnswer
  after(parts: readonly ScopeTest[], target: ScopeTarget, page: ScopePage): boolean
}

function combined(word: string, likes: readonly ScopeLike[], { before, after }: Decision): ScopeRule {
  // No rules at all is more often an empty list in a configuration than a wish for everything or nothing.
  if (likes.length === 0) throw optionError(`${word}()`, 'nothing', 'at least one scope rule')
  const rules = likes.map((like) => toRule(like, `${word}(): `))
  const rule: CombinedRule = {
    name: `${word}(${rules.map((rule) => rule.name).join(', ')})`,
    start(watch) {
      const parts = rules.map((rule) => startWatched(rule, watch))
      const needsPage = parts.some(({ testPage }) => testPage !== undefined)
      return {
        perOrigin: parts.every((part) => part.perOrigin),
        async open() {
          await Promise.all(parts.map((part) => part.open?.()))
        },
        addSeed(url) {
          for (const part of parts) part.addSeed?.(url)
        },
        test: (target) => before(parts, target),
        ...(watch && { peek: (target: ScopeTarget) => peek(parts, 0, target) }),
        ...(needsPage && { testPage: (target, page) => after(parts, target, page) }),
      }
    },
  }
  return withRecipe(rule, word, ...rules)
}

/** Whether the value is a rule, not only something that stands for one. */
export function isRule(like: unknown): like is ScopeRule {
  if (typeof like !== 'object' || like === null) return false
  const { name, start } = like as Partial<ScopeRule>
  return typeof name === 'string' && typeof start === 'function'
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array (combine rules with all() or any())'
  if (value instanceof URL) {
    return value.protocol === 'file:' || value.protocol === 'data:'
      ? 'a module (let the module export the combination; it may use all(), any() and not() itself)'
      : 'a URL (for its text as a glob, write url.href)'
  }
  if (typeof value === 'object' && value !== null) return 'an object without name and start()'
  return String(value)
}

function notAllowed(place: string, given: string, hint = ''): KumoError {
  return new KumoError('KUMO_INVALID_OPTION', `${place}got ${given}; allowed: ${ALLOWED}${hint}`)
}
