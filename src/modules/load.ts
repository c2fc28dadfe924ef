/**
 * Replaces module references in the options by what the modules export. An exported function is called with `with` and
 * returns the part. Where a function can be the part itself (a scope, a fetcher, a proxy's choice, a frontier's factory),
 * it is called only if `with` is given.
 */

import { messageOf } from '../errors.js'
import type { CodeOption, CrawlOptions, GivenOptions } from '../options/options.js'
import { CODE_OPTIONS, USER_CODE, type UserCode } from '../options/user-code.js'
import { isRule, remake } from '../url/scope/combine.js'
import { isModuleRef, loadModule, MODULE_RULE, type ModuleRef, moduleFailed } from './module.js'
import { recipeOf } from './recipe.js'

/**
 * Loads every module in the options. Without modules, returns the same object.
 *
 * @throws KumoError `KUMO_MODULE_FAILED`, naming the option and the module.
 */
export async function loadModules(options: GivenOptions): Promise<CrawlOptions> {
  const unloaded = CODE_OPTIONS.filter((key) => [options[key]].flat().some(holdsModule))
  if (unloaded.length === 0) return options as CrawlOptions
  return { ...(options as CrawlOptions), ...(await loadOptions(options, unloaded)) }
}

/** Loads the parts that the thread which starts workers needs as well. */
export async function loadShared(
  options: GivenOptions,
): Promise<Pick<CrawlOptions, 'store' | 'partitioner' | 'rewrite'>> {
  return loadOptions(options, ['store', 'partitioner', 'rewrite'])
}

async function loadOptions<K extends CodeOption>(
  options: GivenOptions,
  keys: readonly K[],
): Promise<Pick<CrawlOptions, K>> {
  const loaded: Partial<Record<CodeOption, unknown>> = {}
  for (const key of keys) {
    const given: unknown = options[key]
    const code: UserCode<unknown> = USER_CODE[key]
    loaded[key] = Array.isArray(given) ? await loadList(code, given) : await load(code, given)
  }
  return loaded as Pick<CrawlOptions, K>
}

/** One after another, so that modules are imported in the order in which they were given. */
async function loadList(code: UserCode<unknown>, list: readonly unknown[]): Promise<unknown[]> {
  const loaded: unknown[] = []
  for (const given of list) loaded.push(await load(code, given))
  return loaded
}

/** The value itself, unless it is a module, or a scope rule that contains one. */
async function load(code: UserCode<unknown>, given: unknown): Promise<unknown> {
  if (!holdsModule(given)) return given
  if (isModuleRef(given)) return loadReference(code, given)
  const [maker, ...parts] = recipeOf(given as object)!
  if (maker === MODULE_RULE) return loadReference(code, parts[0] as ModuleRef)
  return remake([maker, ...(await loadList(code, parts))])!
}

function holdsModule(given: unknown): boolean {
  if (isModuleRef(given)) return true
  const [maker, ...parts] = (isRule(given) && recipeOf(given)) || ['']
  return maker === MODULE_RULE || parts.some(holdsModule)
}

async function loadReference(code: UserCode<unknown>, ref: ModuleRef): Promise<unknown> {
  const { option, check, checkExport = check } = code
  const value = await make(code, ref, await loadModule(option, ref))
  try {
    return checkExport(value)
  } catch (error) {
    const exported = ref.export === 'default' ? 'its default export' : `its export '${ref.export}'`
    throw moduleFailed(option, ref, `${exported} cannot be used: ${messageOf(error)}`, error)
  }
}

/** What the export is, or returns. */
async function make(code: UserCode<unknown>, ref: ModuleRef, exported: unknown): Promise<unknown> {
  const { option, mayBeFunction = false, isPerRun = false } = code
  const hasArgument = ref.with !== undefined
  if (typeof exported !== 'function') {
    if (hasArgument) throw moduleFailed(option, ref, '`with` is given, but its export is not a function')
    if (!isPerRun) return exported
    throw moduleFailed(
      option,
      ref,
      'it must export a function, because each run in each thread needs its own part',
    )
  }
  if (mayBeFunction && !hasArgument) return exported
  try {
    // Each call gets its own copy, as it would in another thread.
    return await exported(structuredClone(ref.with))
  } catch (error) {
    throw moduleFailed(option, ref, `its exported function threw: ${messageOf(error)}`, error)
  }
}
