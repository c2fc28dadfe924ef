/**
 * From modules to what they export. One convention holds for all: an exported function makes what is wanted, and is
 * called with `with`; but where a function can be what is wanted itself (a scope, a fetcher, a proxy's choice, the maker of
 * a frontier), it makes it only if `with` is given.
 */

import { invalidOption, KumoError, messageOf } from '../errors.js'
import type { Extractor, Page } from '../extract/contract.js'
import { fieldExtractor } from '../extract/fields.js'
import type { Resolver } from '../fetch/dns/resolver.js'
import { part } from '../options/check.js'
import * as access from '../options/check-access.js'
import * as check from '../options/check-user-code.js'
import type { CrawlOptions, GivenNetwork, GivenOptions, NetworkOptions } from '../options/options.js'
import { isRule, remake } from '../url/scope/combine.js'
import type { ScopeLike, ScopeRule } from '../url/scope/scope.js'
import { isModuleRef, loadModule, MODULE_RULE, type ModuleRef, moduleFailed } from './module.js'
import { recipeOf } from './recipe.js'

/** What an option wants of a module. */
interface CodeRequirement<T> {
  readonly option: string
  /** Whether a function can be the part itself. */
  readonly mayBeFunction?: boolean
  /** Whether only a function will do, since each run needs a part of its own. */
  readonly mustBeFunction?: boolean
  /** The part, or an error that says what is wrong with it. */
  check(value: unknown): T
}

const EXTRACTOR: CodeRequirement<Extractor> = {
  option: 'extract',
  check: (value) =>
    check.isExtractor(value) ? check.extractor(value) : fieldExtractor({ ...check.fields(value) }),
}
const HOOK: CodeRequirement<CrawlOptions['hooks'][number]> = { option: 'use', check: check.hook }
const STORE: CodeRequirement<CrawlOptions['store']> = { option: 'store', check: check.store }
const SEEN: CodeRequirement<CrawlOptions['seenStore']> = {
  option: 'seenStore',
  mustBeFunction: true,
  check: check.seen,
}
const PARTITION: CodeRequirement<CrawlOptions['partitioner']> = {
  option: 'partitioner',
  check: check.partition,
}
const FETCHER: CodeRequirement<CrawlOptions['fetcher']> = {
  option: 'fetcher',
  mayBeFunction: true,
  check: check.fetcher,
}
const FRONTIER: CodeRequirement<CrawlOptions['frontier']> = {
  option: 'frontier',
  mayBeFunction: true,
  mustBeFunction: true,
  check(value) {
    if (typeof value === 'function') return value as Exclude<CrawlOptions['frontier'], undefined>
    throw new KumoError('KUMO_INVALID_OPTION', 'frontier: with `with`, it makes a function of the context')
  },
}
const PROXY: CodeRequirement<NetworkOptions['proxy']> = {
  option: 'proxy',
  mayBeFunction: true,
  check: (value) => access.checked({ proxy: value as NetworkOptions['proxy'] }).proxy,
}
const RESOLVER: CodeRequirement<NetworkOptions['resolver']> = {
  option: 'dns',
  check: (value) => part<Resolver>('dns', value, ['resolve'], 'a resolver'),
}

const DIGEST: CodeRequirement<CrawlOptions['digest']> = {
  option: 'refresh.digest',
  mayBeFunction: true,
  check: (value) => {
    if (typeof value === 'function') return value as (page: Page) => string
    throw invalidOption('refresh.digest', value, 'a function that takes a page')
  },
}

/** `block` reads a host name in a way of its own. */
function ruleRequirement(option: 'scope' | 'include' | 'exclude' | 'block'): CodeRequirement<ScopeRule> {
  const toRule = option === 'block' ? check.blockRule : check.scopeRule
  return { option, mayBeFunction: true, check: (value) => toRule(option, value as ScopeLike) }
}

/**
 * Options with everything loaded. Without modules among them they are the same object.
 *
 * @throws KumoError `KUMO_MODULE_FAILED`, naming the option and the module.
 */
export async function loadModules(options: GivenOptions): Promise<CrawlOptions> {
  if (isLoaded(options)) return options
  const { scope, include, exclude, block } = options
  return {
    ...options,
    access: await loadAccess(options.access),
    scope: scope && (await loadRule(ruleRequirement('scope'), scope)),
    include: await loadRules(ruleRequirement('include'), include),
    exclude: await loadRules(ruleRequirement('exclude'), exclude),
    block: await loadRules(ruleRequirement('block'), block),
    ...(await loadShared(options)),
    frontier: await loaded(FRONTIER, options.frontier),
    seenStore: await loaded(SEEN, options.seenStore),
    fetcher: await loaded(FETCHER, options.fetcher),
    digest: await loaded(DIGEST, options.digest),
    extractors: await inTurn(options.extractors, (given) => loaded(EXTRACTOR, given)),
    hooks: await inTurn(options.hooks, (given) => loaded(HOOK, given)),
  }
}

/** The parts that the thread which starts workers needs as well as they do. */
export async function loadShared({
  store,
  partitioner,
}: GivenOptions): Promise<Pick<CrawlOptions, 'store' | 'partitioner'>> {
  return { store: await loaded(STORE, store), partitioner: await loaded(PARTITION, partitioner) }
}

function isLoaded(options: GivenOptions): options is CrawlOptions {
  const { access, scope, include, exclude, block, extractors, hooks } = options
  const { store, frontier, seenStore, partitioner, fetcher, digest } = options
  const parts = [access.proxy, access.resolver, store, frontier, seenStore, partitioner, fetcher, digest]
  if ([...parts, ...extractors, ...hooks].some(isModuleRef)) return false
  return ![...include, ...exclude, ...block, ...(scope ? [scope] : [])].some(holdsModule)
}

async function loadAccess(given: GivenNetwork): Promise<NetworkOptions> {
  const { proxy, resolver } = given
  return { ...given, proxy: await loaded(PROXY, proxy), resolver: await loaded(RESOLVER, resolver) }
}

/** One after another, so that modules are imported in the order in which they were given. */
async function inTurn<Given, T>(list: readonly Given[], load: (given: Given) => Promise<T>): Promise<T[]> {
  const all: T[] = []
  for (const given of list) all.push(await load(given))
  return all
}

async function loadRules(
  wish: CodeRequirement<ScopeRule>,
  rules: readonly ScopeRule[],
): Promise<ScopeRule[]> {
  return inTurn(rules, (rule) => loadRule(wish, rule))
}

/** The rule itself, unless a module stands for it or for a part of it. */
async function loadRule(wish: CodeRequirement<ScopeRule>, rule: ScopeRule): Promise<ScopeRule> {
  if (!holdsModule(rule)) return rule
  const [maker, ...given] = recipeOf(rule)!
  if (maker === MODULE_RULE) return loaded(wish, given[0] as ModuleRef)
  return remake([maker, ...(await loadRules(wish, given as ScopeRule[]))])!
}

function holdsModule(rule: ScopeRule): boolean {
  const [maker, ...given] = recipeOf(rule) ?? ['']
  return maker === MODULE_RULE || given.some((each) => isRule(each) && holdsModule(each))
}

async function loaded<T>(wish: CodeRequirement<T>, given: T | ModuleRef): Promise<T> {
  if (!isModuleRef(given)) return given
  const { option, check } = wish
  const value = await make(wish, given, await loadModule(option, given))
  try {
    return check(value)
  } catch (error) {
    const what = given.export === 'default' ? 'its default export' : `its export '${given.export}'`
    throw moduleFailed(option, given, `${what} is not what is wanted: ${messageOf(error)}`, error)
  }
}

/** What the export is, or makes. */
async function make(wish: CodeRequirement<unknown>, ref: ModuleRef, exported: unknown): Promise<unknown> {
  const { option, mayBeFunction = false, mustBeFunction = false } = wish
  const isGiven = ref.with !== undefined
  if (typeof exported !== 'function') {
    if (isGiven) throw moduleFailed(option, ref, '`with` is given, but its export is no function to call')
    if (!mustBeFunction) return exported
    throw moduleFailed(
      option,
      ref,
      'it must export a function: each run, in each thread, needs one of its own',
    )
  }
  if (mayBeFunction && !isGiven) return exported
  try {
    // A copy for each, as another thread would get one.
    return await exported(structuredClone(ref.with))
  } catch (error) {
    throw moduleFailed(option, ref, `the function that it exports threw: ${messageOf(error)}`, error)
  }
}
