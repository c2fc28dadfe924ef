/** The built-in scope rules. Rules that refer to seeds mean all seeds added so far in the run. */

import { invalidOption, KumoError } from '../../errors.js'
import { withRecipe } from '../../modules/recipe.js'
import { canonicalizeUrl, hostOf, originOf, parseUrl, pathOf } from '../canonicalize.js'
import { loadSiteOf } from '../site.js'
import { compileGlob } from './glob.js'
import { Prefixes } from './prefixes.js'
import type { ScopePredicate, ScopeRule, ScopeTarget, ScopeTest } from './scope.js'

/**
 * Every http(s) URL.
 *
 * @example
 * crawler.scope(anywhere())
 */
export function anywhere(): ScopeRule {
  return withRecipe({ name: 'anywhere', start: () => ({ perOrigin: true, test: () => true }) }, 'anywhere')
}

/**
 * Scheme, host and port of a seed.
 *
 * @example
 * sameOrigin() // seed https://example.com/: https://example.com/a, not http://example.com/a
 */
export function sameOrigin(): ScopeRule {
  const start = () => sameAsSeed(originOf, (target) => originOf(target.url))
  return withRecipe({ name: 'same origin', start }, 'sameOrigin')
}

/**
 * Host and port of a seed, with either scheme.
 *
 * @example
 * sameHost() // seed https://example.com/: http://example.com/a, not https://www.example.com/
 */
export function sameHost(): ScopeRule {
  const start = () => sameAsSeed(hostOf, (target) => target.host)
  return withRecipe({ name: 'same host', start }, 'sameHost')
}

function sameAsSeed(ofSeed: (url: string) => string, ofTarget: (target: ScopeTarget) => string): ScopeTest {
  const known = new Set<string>()
  return {
    perOrigin: true,
    addSeed: (url) => void known.add(ofSeed(url)),
    test: (target) => known.has(ofTarget(target)),
  }
}

/**
 * A host with all its subdomains, on every port and with either scheme.
 *
 * @example
 * domain('example.com') // https://example.com/, http://www.example.com:8080/, not https://example.org/
 */
export function domain(name: string): ScopeRule {
  const written = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name
  const url = parseUrl(`http://${written}/`)
  if (url?.href !== `http://${url?.hostname}/`) {
    const meant = /^https?:\/\//i.test(name) ? hostOf(canonicalizeUrl(name) ?? '') : ''
    const hint = meant === '' ? '' : `; did you mean domain('${nameOf(meant)}')`
    throw invalidOption('domain()', name, `a host name such as 'example.com'${hint}`)
  }
  const host = nameOf(url.hostname)
  const below = `.${host}`
  const test = (target: ScopeTarget) => {
    const found = nameOf(target.host)
    return found === host || found.endsWith(below)
  }
  return withRecipe({ name: `domain ${host}`, start: () => ({ perOrigin: true, test }) }, 'domain', name)
}

/** The host name without port and trailing dot. */
function nameOf(host: string): string {
  return host.replace(/:\d+$/, '').replace(/\.$/, '')
}

/** About a hundred bytes per host, so about a megabyte. */
const REMEMBERED_HOSTS = 10_000

/**
 * The registrable domain of a seed, with all its subdomains.
 *
 * @example
 * sameSite() // seed https://www.example.com/: https://blog.example.com/, not https://example.org/
 */
export function sameSite(): ScopeRule {
  return withRecipe({ name: 'same site', start: startSameSite }, 'sameSite')
}

function startSameSite(): ScopeTest {
  let siteOf: (host: string) => string = () => {
    throw new KumoError('KUMO_CONTRACT_BROKEN', 'the scope "same site" was used before open() had resolved')
  }
  const sites = new Set<string>()
  const answers = new Map<string, boolean>()
  return {
    perOrigin: true,
    async open() {
      siteOf = await loadSiteOf()
    },
    addSeed(url) {
      sites.add(siteOf(hostOf(url)))
      answers.clear()
    },
    test({ host }) {
      const known = answers.get(host)
      if (known !== undefined) return known
      const answer = sites.has(siteOf(host))
      if (answers.size >= REMEMBERED_HOSTS) answers.clear()
      answers.set(host, answer)
      return answer
    },
  }
}

/**
 * URLs below a directory. Without arguments: the directories of the seeds. With arguments: below these URLs or, on every
 * host, below these paths. `/docs` matches itself and everything below `/docs/`, but not `/docs2`; `/docs/` matches
 * everything that starts with it. Queries are ignored.
 *
 * @example
 * pathPrefix()                              // seed https://example.com/docs/intro.html: …/docs/a, not …/blog/
 * pathPrefix('https://example.com/docs')    // https://example.com/docs?x=1 and https://example.com/docs/a
 * all(sameHost(), pathPrefix('/a/', '/b/')) // /a/ and /b/ on the seeds' hosts
 */
export function pathPrefix(...prefixes: string[]): ScopeRule {
  if (prefixes.length === 0)
    return withRecipe({ name: 'below the seeds', start: startBelowSeeds }, 'pathPrefix')
  const ofUrls = new Prefixes()
  const ofPaths = new Prefixes()
  for (const prefix of prefixes) {
    const isPath = typeof prefix === 'string' && /^\/(?!\/)/.test(prefix)
    const url = isPath ? canonicalizeUrl(prefix, 'http://any.example/') : canonicalizeUrl(prefix)
    if (url === undefined) {
      const allowed = "URLs such as 'https://example.com/docs/' or paths such as '/docs/'"
      throw invalidOption('pathPrefix()', prefix, allowed)
    }
    if (isPath) ofPaths.add(withoutQuery(pathOf(url)))
    else ofUrls.add(withoutQuery(url))
  }
  const test = ({ url }: ScopeTarget) => {
    const address = withoutQuery(url)
    return ofUrls.matches(address) || ofPaths.matches(pathOf(address))
  }
  const rule = { name: `below ${prefixes.join(', ')}`, start: () => ({ perOrigin: false, test }) }
  return withRecipe(rule, 'pathPrefix', ...prefixes)
}

function startBelowSeeds(): ScopeTest {
  const directories = new Prefixes()
  return {
    perOrigin: false,
    addSeed(url) {
      const address = withoutQuery(url)
      directories.add(address.slice(0, address.lastIndexOf('/') + 1))
    },
    test: ({ url }) => directories.matches(withoutQuery(url)),
  }
}

function withoutQuery(url: string): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

/**
 * URLs that match a glob; see `compileGlob` for the syntax. A string in place of a rule is a glob.
 *
 * @example
 * glob('/blog/**')            // below /blog/ on every host
 * glob('*.example.com')       // every subdomain of example.com
 * glob('https://example.com/{en,de}/*.html')
 */
export function glob(pattern: string): ScopeRule {
  const matches = compileGlob(pattern)
  const test = ({ url }: ScopeTarget) => matches(url)
  return withRecipe({ name: `glob ${pattern}`, start: () => ({ perOrigin: false, test }) }, 'glob', pattern)
}

/**
 * URLs that match a regular expression. It is tested against the whole canonical URL, unanchored. Each test starts at the
 * beginning, even with the flag `g`.
 *
 * @example
 * matching(/\/20\d\d\//) // https://example.com/2024/title
 */
export function matching(pattern: RegExp): ScopeRule {
  if (!(pattern instanceof RegExp)) throw invalidOption('matching()', pattern, 'a regular expression')
  // A copy, because the flags g and y keep a position in the object.
  const own = new RegExp(pattern)
  const test = ({ url }: ScopeTarget) => {
    own.lastIndex = 0
    return own.test(url)
  }
  return withRecipe(
    { name: `matching ${pattern}`, start: () => ({ perOrigin: false, test }) },
    'matching',
    own,
  )
}

/**
 * A custom test, called for every link. A function in place of a rule is a predicate.
 *
 * @example
 * predicate(({ parsed }) => !parsed.searchParams.has('session'))
 * predicate((target) => target.depth < 3 || target.host === 'example.com', 'shallow')
 */
export function predicate(accepts: ScopePredicate, name = accepts?.name): ScopeRule {
  if (typeof accepts !== 'function') throw invalidOption('predicate()', accepts, 'a function')
  const title = name === '' ? 'a function' : name
  const test = (target: ScopeTarget) => {
    const answer: unknown = accepts(target)
    // A promise or a rule is truthy, and would let the crawl out into the whole web.
    if (typeof answer === 'object' && answer !== null && ('then' in answer || 'start' in answer)) {
      const returned = 'then' in answer ? 'a promise' : 'a scope rule'
      const message = `the scope function '${title}' returned ${returned}; it must return true or false at once`
      throw new KumoError('KUMO_INVALID_OPTION', message)
    }
    return Boolean(answer)
  }
  return { name: title, start: () => ({ perOrigin: false, test }) }
}
