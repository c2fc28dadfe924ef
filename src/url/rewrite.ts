/** URLs rewritten by rules of the user, so that a page with several URLs is fetched once. */

import { invalidOption, isPlainObject, messageOf, optionError, show } from '../errors.js'
import { withRecipe } from '../modules/recipe.js'
import { canonicalizeUrl } from './canonicalize.js'
import { fingerprintText } from './fingerprint.js'

/**
 * A rule with a name. Stored crawls are opened only with a rule of the same name, so change the name when the rule
 * changes: `'lower-case@2'`.
 */
export interface UrlRewrite {
  readonly name: string
  /** Called with a canonical URL; returns it, or another one. What it returns must stay the same if rewritten again. */
  rewrite(url: string): string | URL
}

/** A rule, or its function. A stored crawl knows a function by its source text. */
export type UrlRewriteRule = UrlRewrite | ((url: string) => string | URL)

/** Options of `indexPages()`. */
export interface IndexPageOptions {
  /** File names that mean their directory. Default `['index.html', 'index.htm']`. */
  readonly names?: readonly string[] | undefined
}

const INDEX_NAMES: readonly string[] = ['index.html', 'index.htm']

/**
 * Fetches the index page of a directory under the URL of the directory: `/docs/index.html` becomes `/docs/`. The query is
 * kept. Only for sites where both are the same page, as on most.
 *
 * @example
 * new Crawler().seeds('https://example.com/').urls({ rewrite: indexPages() })
 * new Crawler().seeds('https://example.com/').urls({ rewrite: indexPages({ names: ['index.php', 'default.aspx'] }) })
 */
export function indexPages(options: IndexPageOptions = {}): UrlRewrite {
  const { names = INDEX_NAMES } = options ?? {}
  const isName = (name: unknown) => typeof name === 'string' && /^[^\s/?#;]+$/.test(name)
  if (!Array.isArray(names) || names.length === 0 || !names.every(isName))
    throw invalidOption('indexPages.names', names, "file names such as ['index.html', 'index.php']")
  const ends = names.map((name) => `/${name}`)
  const rule: UrlRewrite = {
    name: `indexPages ${names.join(' ')}`,
    rewrite(url) {
      const query = url.indexOf('?')
      const path = query < 0 ? url : url.slice(0, query)
      const end = ends.find((each) => path.endsWith(each))
      if (end === undefined) return url
      return path.slice(0, path.length - end.length + 1) + (query < 0 ? '' : url.slice(query))
    },
  }
  return withRecipe(rule, 'indexPages', { names })
}

/** @throws KumoError `KUMO_INVALID_OPTION` */
export function checkRewrite(option: string, value: unknown): UrlRewriteRule {
  if (typeof value === 'function') return value as UrlRewriteRule
  const allowed = 'a function of the URL, a rule { name, rewrite }, indexPages(), or a module'
  if (typeof value !== 'object' || value === null || !isPlainObject(value))
    throw invalidOption(option, value, allowed)
  const { name, rewrite } = value as Partial<UrlRewrite>
  if (typeof rewrite !== 'function')
    throw invalidOption(`${option}.rewrite`, rewrite, 'a function of the URL')
  if (typeof name !== 'string' || name.trim() === '')
    throw optionError(`${option}.name`, show(name), "a text such as 'lower-case@1'")
  return value as UrlRewrite
}

/** The rules as a stored crawl knows them; empty if there are none. */
export function rewriteIdentity(rules: readonly UrlRewriteRule[]): string {
  return rules
    .map((rule) => (typeof rule === 'function' ? `function ${fingerprintText(rule.toString())}` : rule.name))
    .join(', ')
}

/**
 * Applies all rules, one after another, to canonical URLs. `clean` removes parameters, before and after the rules. The
 * function throws an `Error` for a URL that a rule cannot rewrite: it threw, returned something else than an http(s) URL,
 * or would rewrite its own result again. Such a result could not be found again, and an endless site could grow from it.
 */
export function urlRewriter(
  rules: readonly UrlRewriteRule[],
  clean: (url: string) => string = (url) => url,
): (url: string) => string {
  const once = (url: string) => clean(rules.reduce(apply, clean(url)))
  return (url) => {
    const written = once(url)
    if (written === url) return url
    const again = once(written)
    if (again === written) return written
    throw new Error(
      `urls({ rewrite }) is not stable: ${url} becomes ${written}, and that becomes ${again}; ` +
        'a URL that was rewritten must stay the same',
    )
  }
}

function apply(url: string, rule: UrlRewriteRule): string {
  let result: unknown
  try {
    result = typeof rule === 'function' ? rule(url) : rule.rewrite(url)
  } catch (cause) {
    throw new Error(`urls({ rewrite }) threw: ${messageOf(cause)}`, { cause })
  }
  if (result === url) return url
  const href = result instanceof URL ? result.href : result
  const canonical = typeof href === 'string' ? canonicalizeUrl(href) : undefined
  if (canonical !== undefined) return canonical
  throw new Error(`urls({ rewrite }) returned ${show(result)}, which is not an absolute http(s) URL`)
}
