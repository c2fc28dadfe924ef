import { invalidOption } from '../../errors.js'
import { withRecipe } from '../../modules/recipe.js'
import type { ScopePage, ScopeRule } from './scope.js'

/** Options of `pageLanguage()`. */
export interface PageLanguageOptions {
  /** Also keeps pages in other languages that are at most this many links away from a page in the scope. Default 0. */
  around?: number | undefined
}

/** A language, and perhaps a script, a region or more (BCP 47). */
const TAG = /^[a-z]{2,3}(?:-[a-z\d]{2,8})*$/i
const MOST_AROUND = 100

/**
 * Pages that are written in a language. It can be told only once the page is fetched: a page in another language is
 * fetched, but neither delivered nor followed (`skip` with the reason `language`). `en` matches every kind of English,
 * `en-GB` one. With `around: 1`, pages that such a page links to are kept whatever their language.
 *
 * @example
 * new Crawler().scope(any(domain('jp'), pageLanguage('ja')))
 */
export function pageLanguage(language: string, options: PageLanguageOptions = {}): ScopeRule {
  if (typeof language !== 'string' || !TAG.test(language))
    throw invalidOption('pageLanguage()', language, "a language tag such as 'ja' or 'zh-Hant'")
  const around = aroundOf(options)
  const tag = language.toLowerCase()
  const testPage = (_: unknown, page: ScopePage) => page.distance <= around || isIn(tag, page.language)
  const name = `page language ${language}${around === 0 ? '' : ` around ${around}`}`
  const rule: ScopeRule = { name, start: () => ({ perOrigin: true, test: () => 'after-fetch', testPage }) }
  return withRecipe(rule, 'pageLanguage', language, { around })
}

function aroundOf(options: PageLanguageOptions): number {
  const unknown = Object.keys(options ?? {}).find((key) => key !== 'around')
  if (typeof options !== 'object' || options === null || unknown !== undefined)
    throw invalidOption('pageLanguage()', unknown ?? options, 'the key around')
  const { around = 0 } = options
  if (Number.isInteger(around) && around >= 0 && around <= MOST_AROUND) return around
  throw invalidOption('pageLanguage().around', around, `a whole number, 0 to ${MOST_AROUND}`)
}

/** Whether a page is in the language of a tag, in lower case, or a kind of it: `zh-hant-tw` is a kind of `zh-hant`. */
function isIn(tag: string, found: string | undefined): boolean {
  const of = found?.toLowerCase()
  return of !== undefined && (of === tag || of.startsWith(`${tag}-`))
}
