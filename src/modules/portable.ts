/**
 * Options as data that can be posted to worker threads. Modules travel as references, ready-made values as their recipes.
 * Extractors and hooks of the program's thread stay there: workers get a description, keep their order, and call them
 * through a proxy. Any other code must be in a module, because the engine needs its answer synchronously.
 */

import { KumoError } from '../errors.js'
import type { Extractor } from '../extract/contract.js'
import type { Hook } from '../hooks/contract.js'
import type { CodeOption, CrawlOptions, GivenOptions } from '../options/options.js'
import { knownSeeds } from '../options/seeds.js'
import { allExtractors, CODE_OPTIONS, USER_CODE, type UserCode } from '../options/user-code.js'
import { isRule } from '../url/scope/combine.js'
import type { ClosureExtractor, ClosureHook, ClosureProxy } from '../workers/closures/proxy.js'
import { isModuleRef, MODULE_RULE, type ModuleRef, moduleRule } from './module.js'
import { type Recipe, recipeOf } from './recipe.js'

/** A ready-made value. The arguments of its maker may be recipes too. */
interface PortableRecipe {
  readonly recipe: Recipe
}

/** A value of an option that takes code, as it is posted. Of the code itself only a proxy's URL is text. */
type PortableCode = undefined | string | ModuleRef | PortableRecipe | ClosureExtractor | ClosureHook

type LocalOption = 'seeds' | 'fields' | 'listeners' | 'clock' | 'random'

/** Structured-cloneable. */
export type PortableOptions = Omit<CrawlOptions, CodeOption | LocalOption> & {
  readonly [K in CodeOption]: PortableCode | readonly PortableCode[]
} & {
  /** The program's thread reads the seeds, but those known from the start define the scope in every worker. */
  readonly knownSeeds: readonly string[]
}

/**
 * Code that stays in the program's thread, in its order. A hook that each worker makes for itself has its place here, but
 * does nothing in this thread.
 */
export function closuresOf(options: GivenOptions): {
  readonly extractors: readonly Extractor[]
  readonly hooks: readonly Hook[]
} {
  const hooks = options.hooks.filter(isValue).map((hook) => (recipeOf(hook) ? { name: hook.name } : hook))
  return { extractors: allExtractors(options).filter(isValue), hooks }
}

function isValue<T extends object>(given: T | ModuleRef): given is T {
  return !isModuleRef(given)
}

/** @throws KumoError `KUMO_NOT_PORTABLE` for code that must be in a module; the message shows the module. */
export function toPortable(options: GivenOptions): PortableOptions {
  const { seeds, clock, random, fields: _, listeners: __, ...rest } = options
  if (clock !== undefined) throw notWithWorkers('clock')
  if (random !== undefined) throw notWithWorkers('random')
  const given = { ...rest, extractors: allExtractors(options) }
  return {
    ...given,
    ...eachCode(given, (key, value, closure) => send(USER_CODE[key] as UserCode<unknown>, value, closure)),
    knownSeeds: [...knownSeeds(seeds)],
  }
}

/**
 * The options again, in another thread. Modules are still references: see `loadModules`. `seeds` contains the known ones,
 * for the scope only: the workers do not crawl them on their own.
 */
export function fromPortable(
  portable: PortableOptions,
  closures: Pick<ClosureProxy, 'extractor' | 'hook'>,
): GivenOptions {
  const { knownSeeds: seeds, ...rest } = portable
  const code = eachCode<unknown>(rest, (key, value) => receive(key, value as PortableCode, closures))
  return {
    ...rest,
    ...(code as Pick<GivenOptions, CodeOption>),
    seeds,
    fields: {},
    listeners: [],
    clock: undefined,
    random: undefined,
  }
}

/** Maps every value of every option that takes code. `closure` counts the values of a list that are not modules. */
function eachCode<T>(
  options: Readonly<Record<CodeOption, unknown>>,
  map: (key: CodeOption, value: unknown, closure: number) => T,
): Record<CodeOption, T | T[]> {
  const mapped = CODE_OPTIONS.map((key) => {
    const given = options[key]
    let closure = 0
    const each = (value: unknown) => map(key, value, isModuleRef(value) ? -1 : closure++)
    return [key, Array.isArray(given) ? given.map(each) : each(given)] as const
  })
  return Object.fromEntries(mapped) as Record<CodeOption, T | T[]>
}

function send(code: UserCode<unknown>, value: unknown, closure: number): PortableCode {
  if (value === undefined || typeof value === 'string' || isModuleRef(value)) return value
  const recipe = code.remake && recipeOf(value as object)
  if (recipe === undefined && code.describe !== undefined) {
    return { closure, ...code.describe(value) } as ClosureExtractor | ClosureHook
  }
  if (recipe === undefined) throw notPortable(code, value)
  const [maker, ...given] = recipe
  return { recipe: [maker, ...given.map((each) => (isRule(each) ? send(code, each, closure) : each))] }
}

function receive(
  key: CodeOption,
  sent: PortableCode,
  closures: Pick<ClosureProxy, 'extractor' | 'hook'>,
): unknown {
  if (sent === undefined || typeof sent === 'string' || isModuleRef(sent)) return sent
  if ('closure' in sent) {
    return key === 'hooks' ? closures.hook(sent as ClosureHook) : closures.extractor(sent as ClosureExtractor)
  }
  const [maker, ...given] = sent.recipe
  if (maker === MODULE_RULE) return moduleRule(given[0] as ModuleRef)
  const again = given.map((each) => (isPortableRecipe(each) ? receive(key, each, closures) : each))
  return USER_CODE[key].remake!([maker, ...again])
}

function isPortableRecipe(given: unknown): given is PortableRecipe {
  return typeof given === 'object' && given !== null && 'recipe' in given
}

function notPortable({ option, example }: UserCode<unknown>, value: unknown): KumoError {
  const [method, key = method] = option.split('.') as [string, string?]
  const module = `new URL('./${key}.js', import.meta.url)`
  const more = option === 'prioritize' ? ', priority' : ''
  const call = key === method ? `.${method}(${module}${more})` : `.${method}({ ${key}: ${module} })`
  const message =
    `${option}: ${describe(value)} cannot be sent to worker threads; move it to a module, ` +
    `e.g. ${key}.js with \`export default ${example}\`, and pass ${call}`
  return new KumoError('KUMO_NOT_PORTABLE', message)
}

function describe(value: unknown): string {
  if (isRule(value)) return value.name === 'a function' ? value.name : `the rule '${value.name}'`
  return typeof value === 'function' ? 'a function' : 'an object with functions'
}

function notWithWorkers(option: 'clock' | 'random'): KumoError {
  const message = `${option}: your own ${option} cannot be used with worker threads; remove it, or use .workers(0)`
  return new KumoError('KUMO_NOT_PORTABLE', message)
}
