/**
 * Options as data, to be posted to worker threads. What is ready-made travels as its recipe, what is in a module by
 * reference. Extractors and hooks that are values of the program's thread stay there; workers are told where they stand
 * among the others, so that the order stays. What must answer at once, inside the loop, cannot stay behind: it must be in
 * a module.
 */

import { KumoError } from '../errors.js'
import type { Extractor } from '../extract/contract.js'
import { fieldExtractor } from '../extract/fields.js'
import type { Hook } from '../hooks/contract.js'
import type { CrawlOptions, GivenNetwork, GivenOptions } from '../options/options.js'
import { knownSeeds } from '../options/seeds.js'
import { byHost } from '../partition/by-host.js'
import type { HostPartitioner } from '../partition/contract.js'
import type { Store } from '../stores/contract.js'
import { level } from '../stores/level/level.js'
import { memory } from '../stores/memory.js'
import { isRule, remake } from '../url/scope/combine.js'
import type { ScopeRule } from '../url/scope/scope.js'
import { isModuleRef, MODULE_RULE, type ModuleRef, moduleRule } from './module.js'
import { type Recipe, recipeOf } from './recipe.js'

/** An extractor that stays in the program's thread, as workers know it. */
export interface ClosureExtractor {
  /** Its place in `closuresOf(options).extractors`. */
  readonly closure: number
  readonly name: string
  readonly mediaTypes: readonly string[] | undefined
}

/** A hook that stays in the program's thread, as workers know it. */
export interface ClosureHook {
  /** Its place in `closuresOf(options).hooks`. */
  readonly closure: number
  readonly name: string
  /** Whether it wants pages. */
  readonly page: boolean
  /** Whether it wants failures. */
  readonly failure: boolean
}

interface InModule {
  readonly module: ModuleRef
}

type CodeOptions =
  | 'seeds'
  | 'access'
  | 'scope'
  | 'include'
  | 'exclude'
  | 'block'
  | 'store'
  | 'frontier'
  | 'seenStore'
  | 'partitioner'
  | 'fetcher'
  | 'digest'
  | 'fields'
  | 'extractors'
  | 'hooks'
  | 'listeners'
  | 'clock'
  | 'random'

/** Structured-cloneable. */
export interface PortableOptions extends Omit<CrawlOptions, CodeOptions> {
  /** The program's thread reads the seeds; but those that are known from the start count for the scope at once. */
  readonly knownSeeds: readonly string[]
  readonly access: Omit<GivenNetwork, 'proxy' | 'resolver'> & {
    readonly proxy: string | ModuleRef | undefined
    readonly resolver: ModuleRef | undefined
  }
  readonly scope: Recipe | undefined
  readonly include: readonly Recipe[]
  readonly exclude: readonly Recipe[]
  readonly block: readonly Recipe[]
  readonly store: Recipe | ModuleRef | undefined
  readonly frontier: ModuleRef | undefined
  readonly seenStore: ModuleRef | undefined
  readonly partitioner: Recipe | ModuleRef | undefined
  readonly fetcher: ModuleRef | undefined
  readonly digest: ModuleRef | undefined
  readonly extractors: readonly (InModule | ClosureExtractor)[]
  readonly hooks: readonly (InModule | ClosureHook)[]
}

/** What stands in a worker for the code that stayed in the program's thread. */
export interface Closures {
  extractor(what: ClosureExtractor): Extractor
  hook(what: ClosureHook): Hook
}

/** Code that stays in the program's thread, in its order. Fields are one extractor, the first. */
export function closuresOf(options: GivenOptions): {
  readonly extractors: readonly Extractor[]
  readonly hooks: readonly Hook[]
} {
  return { extractors: extractorsOf(options).filter(isValue), hooks: options.hooks.filter(isValue) }
}

function extractorsOf({ fields, extractors }: GivenOptions): GivenOptions['extractors'] {
  return Object.keys(fields).length > 0 ? [fieldExtractor(fields), ...extractors] : extractors
}

function isValue<T extends object>(given: T | ModuleRef): given is T {
  return !isModuleRef(given)
}

/** @throws KumoError `KUMO_NOT_PORTABLE` for code that only a module can bring to workers; the message shows how. */
export function toPortable(options: GivenOptions): PortableOptions {
  const { seeds, clock, random, fields: _, listeners: __, access, scope, ...rest } = options
  if (clock !== undefined) throw onlyHere('clock')
  if (random !== undefined) throw onlyHere('random')
  const rules = (option: 'include' | 'exclude' | 'block') =>
    rest[option].map((rule) => portableRule(option, rule))
  return {
    ...rest,
    knownSeeds: [...knownSeeds(seeds)],
    access: portableAccess(access),
    scope: scope && portableRule('scope', scope),
    include: rules('include'),
    exclude: rules('exclude'),
    block: rules('block'),
    store: readyOrModule('store', rest.store),
    frontier: inModule('frontier', rest.frontier),
    seenStore: inModule('seenStore', rest.seenStore),
    partitioner: readyOrModule('partitioner', rest.partitioner),
    fetcher: inModule('fetcher', rest.fetcher),
    digest: inModule('refresh.digest', rest.digest),
    extractors: portableExtractors(options),
    hooks: portableHooks(options),
  }
}

/**
 * The options again, in another thread. Modules are still references: see `loadModules`. `seeds` are those that are known;
 * they are for the scope, and not to be crawled by every worker.
 */
export function fromPortable(portable: PortableOptions, closures: Closures): GivenOptions {
  const { knownSeeds: seeds, scope, ...rest } = portable
  return {
    ...rest,
    seeds,
    scope: scope && ruleOf(scope),
    include: rest.include.map(ruleOf),
    exclude: rest.exclude.map(ruleOf),
    block: rest.block.map(ruleOf),
    store: again(STORES, rest.store),
    partitioner: again(PARTITIONERS, rest.partitioner),
    fields: {},
    extractors: rest.extractors.map((each) => ('module' in each ? each.module : closures.extractor(each))),
    hooks: rest.hooks.map((each) => ('module' in each ? each.module : closures.hook(each))),
    listeners: [],
    clock: undefined,
    random: undefined,
  }
}

function portableAccess(given: GivenNetwork): PortableOptions['access'] {
  const { proxy, resolver, auth } = given
  const credentials = Object.entries(auth).map(([origin, { username, password }]) => {
    return [origin, { username, password }] as const
  })
  return {
    ...given,
    auth: Object.fromEntries(credentials),
    proxy: proxy instanceof URL ? proxy.href : typeof proxy === 'string' ? proxy : inModule('proxy', proxy),
    resolver: inModule('dns', resolver),
  }
}

function portableExtractors(options: GivenOptions): PortableOptions['extractors'] {
  let closure = 0
  return extractorsOf(options).map((given) => {
    if (isModuleRef(given)) return { module: given }
    const { name, mediaTypes } = given
    return { closure: closure++, name, mediaTypes }
  })
}

function portableHooks({ hooks }: GivenOptions): PortableOptions['hooks'] {
  let closure = 0
  return hooks.map((given) => {
    if (isModuleRef(given)) return { module: given }
    const { name, page, failure } = given
    return { closure: closure++, name, page: page !== undefined, failure: failure !== undefined }
  })
}

const STORES: Readonly<Record<string, (...given: never[]) => Store>> = { memory, level }
const PARTITIONERS: Readonly<Record<string, (...given: never[]) => HostPartitioner>> = { byHost }

function readyOrModule(
  option: 'store' | 'partitioner',
  given: object | undefined,
): Recipe | ModuleRef | undefined {
  return given === undefined || isModuleRef(given) ? given : (recipeOf(given) ?? inModule(option, given))
}

function again<T>(
  makers: Readonly<Record<string, (...given: never[]) => T>>,
  given: Recipe | ModuleRef | undefined,
): T | ModuleRef | undefined {
  if (given === undefined || isModuleRef(given)) return given
  const [maker, ...of] = given
  return makers[maker]!(...(of as never[]))
}

function inModule(option: InModules, given: unknown): ModuleRef | undefined {
  if (given === undefined || isModuleRef(given)) return given
  throw notPortable(option, typeof given === 'function' ? 'a function' : 'an object with functions')
}

function portableRule(option: 'scope' | 'include' | 'exclude' | 'block', rule: ScopeRule): Recipe {
  const recipe = recipeOf(rule)
  if (recipe === undefined) {
    throw notPortable(option, rule.name === 'a function' ? rule.name : `the rule '${rule.name}'`)
  }
  const [maker, ...given] = recipe
  return [maker, ...given.map((each) => (isRule(each) ? portableRule(option, each) : each))]
}

function ruleOf([maker, ...given]: Recipe): ScopeRule {
  if (maker === MODULE_RULE) return moduleRule(given[0] as ModuleRef)
  return remake([maker, ...given.map((each) => (Array.isArray(each) ? ruleOf(each as never) : each))])!
}

/** What a module of each kind looks like, at its smallest. */
const EXAMPLES = {
  scope: ['scope.js', '(target) => …'],
  include: ['include.js', '(target) => …'],
  exclude: ['exclude.js', '(target) => …'],
  block: ['block.js', '(target) => …'],
  fetcher: ['fetch.js', 'async (request, context) => …'],
  store: ['store.js', "{ name: 'mine', open: (context) => … }"],
  frontier: ['frontier.js', '(context) => …'],
  seenStore: ['seen.js', '() => …'],
  partitioner: ['partition.js', '{ partitions: 1024, partition: (host) => … }'],
  dns: ['dns.js', '{ resolve: async (host) => … }'],
  proxy: ['proxy.js', '(url) => …'],
  'refresh.digest': ['digest.js', '(page) => …'],
} as const

type InModules = keyof typeof EXAMPLES

function notPortable(option: InModules, what: string): KumoError {
  const [file, code] = EXAMPLES[option]
  const message =
    `${option}: ${what} cannot be sent to worker threads; move it into a module, ` +
    `e.g. ${file} with \`export default ${code}\`, and give ${given(option, file)}`
  return new KumoError('KUMO_NOT_PORTABLE', message)
}

function given(option: InModules, file: string): string {
  const module = `new URL('./${file}', import.meta.url)`
  return option === 'refresh.digest' ? `.refresh({ digest: ${module} })` : `.${option}(${module})`
}

function onlyHere(option: 'clock' | 'random'): KumoError {
  const message = `${option}: one of your own cannot be used with worker threads; leave it out, or run with .workers(0)`
  return new KumoError('KUMO_NOT_PORTABLE', message)
}
