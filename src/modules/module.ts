/**
 * Code of the user's own that any thread can have: not a function, which belongs to the thread that made it, but the
 * module that exports it.
 */

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { invalidOption, KumoError, messageOf, show } from '../errors.js'
import { record, text } from '../options/check.js'
import type { ScopeRule } from '../url/scope/scope.js'
import { isPackageName, mainFolders, packageUrl } from './packages.js'
import { withRecipe } from './recipe.js'

/** An export of a module, by reference. Plain data: it can be posted to another thread. `module()` makes it. */
export interface ModuleRef {
  /** What is imported: a `file:` or `data:` URL. */
  readonly module: string
  /** Which of its exports is meant. */
  readonly export: string
  /** What the export, a function then, is called with. Undefined: nothing. */
  readonly with?: unknown
}

/**
 * Code as a module, so that it can run inside worker threads: the URL of a file, or what `module()` made. Its default
 * export is used if no other is named.
 *
 * @example
 * new Crawler().extract(new URL('./prices.js', import.meta.url))
 */
export type Module = URL | ModuleRef

const SCHEMES: readonly string[] = ['file:', 'data:']
const ALLOWED =
  "the URL of a module, such as new URL('./mine.js', import.meta.url), or the name of an installed package"

/**
 * A module whose export is named, or is a function that makes what is wanted of `with`. `with` is any data that can be
 * posted to another thread: objects, arrays, maps, regular expressions, bytes, but no functions.
 *
 * @example
 * fromModule(new URL('./plugins.js', import.meta.url), { export: 'prices' })
 * fromModule('my-kumo-plugin', { with: { currency: 'EUR' } })
 */
export function fromModule(
  specifier: string | URL,
  more: { export?: string; with?: unknown } = {},
): ModuleRef {
  return reference('module', specifier, more)
}

/** Whether a module was given, and not the code itself. */
export function isModule(given: unknown): given is Module {
  const isUrl = given instanceof URL && SCHEMES.includes(given.protocol)
  return isUrl || isModuleRef(given)
}

export function isModuleRef(given: unknown): given is ModuleRef {
  if (typeof given !== 'object' || given === null) return false
  const { module, export: name } = given as Partial<ModuleRef>
  return typeof module === 'string' && typeof name === 'string'
}

/** What an option was given, as a reference. */
export function moduleOf(option: string, given: Module | string): ModuleRef {
  if (typeof given === 'string' || given instanceof URL) return reference(option, given, {})
  return reference(option, given.module, { export: given.export, with: given.with })
}

function reference(
  option: string,
  specifier: string | URL,
  more: { export?: string; with?: unknown },
): ModuleRef {
  const { export: name = 'default', with: given } = record(option, more, ['export', 'with'])
  return Object.freeze({
    module: urlOf(option, specifier),
    export: text(`${option}.export`, name),
    with: copyOf(`${option}.with`, given),
  })
}

function urlOf(option: string, specifier: unknown): string {
  const written = specifier instanceof URL ? specifier.href : specifier
  if (typeof written !== 'string') throw invalidOption(option, specifier, ALLOWED)
  if (URL.canParse(written) && SCHEMES.includes(new URL(written).protocol)) return new URL(written).href
  if (!isPackageName(written)) throw invalidOption(option, written, ALLOWED)
  const folders = mainFolders()
  const url = packageUrl(written, folders)
  if (url !== undefined) return url
  const message =
    `${option}: there is no package '${written}' to import for a program in ${folders.join(' or ')}; ` +
    `install it, check its name and what it exports, or give a file: new URL('./mine.js', import.meta.url)`
  throw new KumoError('KUMO_MODULE_FAILED', message)
}

/** A copy as another thread would get it, so that all threads get the same, whatever becomes of the original. */
function copyOf(option: string, value: unknown): unknown {
  try {
    return structuredClone(value)
  } catch {
    throw invalidOption(option, value, 'data that can be posted to another thread: no functions among it')
  }
}

/**
 * Imports a module and picks the export that is meant.
 *
 * @throws KumoError `KUMO_MODULE_FAILED`, naming the option and the module.
 */
export async function loadModule(option: string, ref: ModuleRef): Promise<unknown> {
  const exports = await importModule(option, ref)
  const found = exports[ref.export]
  if (found !== undefined) return found
  const names = Object.keys(exports).filter((name) => name !== 'default' && exports[name] !== undefined)
  const missing = ref.export === 'default' ? 'no default export' : `no export '${ref.export}'`
  const [first] = names
  throw moduleFailed(
    option,
    ref,
    first === undefined
      ? `it has ${missing}, nor any other; write \`export default …\``
      : `it has ${missing}; it exports ${names.join(', ')}: name one, as in module(url, { export: '${first}' })`,
  )
}

async function importModule(option: string, ref: ModuleRef): Promise<Record<string, unknown>> {
  let found: Record<string, unknown>
  try {
    found = await import(ref.module)
  } catch (error) {
    throw moduleFailed(option, ref, whyNot(ref.module, error), error)
  }
  // A module that was compiled to CommonJS has its exports, the default among them, in what `import` calls the default.
  const inner = found.default as Record<string, unknown> | null | undefined
  return inner?.__esModule === true ? inner : found
}

function whyNot(url: string, error: unknown): string {
  const path = url.startsWith('file:') ? fileURLToPath(url) : undefined
  if (path !== undefined && !existsSync(path)) {
    const source = path.replace(/js(x?)$/, 'ts$1')
    if (!existsSync(source)) return 'there is no such file; check its name'
    return `there is no such file, but there is ${source}: compile it, or name that and ${RUN_TYPESCRIPT}`
  }
  if ((error as { code?: unknown } | undefined)?.code === 'ERR_UNKNOWN_FILE_EXTENSION' && /tsx?$/.test(url)) {
    return `Node.js ${process.version} cannot import TypeScript: name the compiled .js, or ${RUN_TYPESCRIPT}`
  }
  return `importing it failed: ${messageOf(error)}`
}

/** Before 22.18 a loader does not reach worker threads; since then none is needed. */
const RUN_TYPESCRIPT =
  'run the program on Node.js 22.18 or later (an older one needs node --import tsx, which workers do not see)'

export function moduleFailed(option: string, ref: ModuleRef, why: string, cause?: unknown): KumoError {
  // A file's name must not be cut: it stands at the end.
  const shown = ref.module.startsWith('data:') ? show(ref.module) : ref.module
  return new KumoError('KUMO_MODULE_FAILED', `${option}: module ${shown}: ${why}`, { cause })
}

/** In a recipe, the maker of a rule that a module exports. */
export const MODULE_RULE = 'module'

/** Stands for the rule that a module exports, until the module is loaded. */
export function moduleRule(ref: ModuleRef): ScopeRule {
  const name = `module ${ref.module}`
  const start = () => {
    throw new KumoError('KUMO_CONTRACT_BROKEN', `The scope's ${name} was used before it was loaded.`)
  }
  return withRecipe({ name, start }, MODULE_RULE, ref)
}
