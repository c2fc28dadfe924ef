/**
 * User code that every thread can load: not a function, which belongs to the thread that created it, but a reference to
 * the module that exports it.
 */

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { invalidOption, KumoError, messageOf, show } from '../errors.js'
import { record, text } from '../options/check.js'
import type { ScopeRule } from '../url/scope/scope.js'
import { isPackageName, mainFolders, packageUrl } from './packages.js'
import { withRecipe } from './recipe.js'

/** A reference to an export of a module, made by `fromModule()`. Plain data: it can be posted to another thread. */
export interface ModuleRef {
  /** The module's URL: `file:` or `data:`. */
  readonly module: string
  /** The name of the export. */
  readonly export: string
  /** The argument for the export, which must be a function. Undefined: none. */
  readonly with?: unknown
}

/**
 * Code in a module, so that it can run in worker threads: the URL of a file, whose default export is used, or the result
 * of `fromModule()`.
 *
 * @example
 * new Crawler().extract(new URL('./prices.js', import.meta.url))
 */
export type Module = URL | ModuleRef

export interface FromModuleOptions {
  /** The name of the export. Default `'default'`. */
  export?: string | undefined
  /** Calls the export, which must be a function, with this data, and uses what it returns. */
  with?: unknown
}

const SCHEMES: readonly string[] = ['file:', 'data:']
const ALLOWED =
  "the URL of a module, such as new URL('./mine.js', import.meta.url), or the name of an installed package"

/**
 * References a named export of a module, or a function that builds the part from `with`. `with` may be any data that can
 * be posted to another thread: objects, arrays, maps, regular expressions, bytes, but no functions. A bare name means an
 * installed package.
 *
 * @example
 * fromModule(new URL('./plugins.js', import.meta.url), { export: 'prices' })
 * fromModule('my-kumo-plugin', { with: { currency: 'EUR' } })
 */
export function fromModule(specifier: string | URL, options: FromModuleOptions = {}): ModuleRef {
  return reference('fromModule', specifier, options)
}

/** Whether the user gave a module, and not the code itself. */
export function isModule(given: unknown): given is Module {
  const isUrl = given instanceof URL && SCHEMES.includes(given.protocol)
  return isUrl || isModuleRef(given)
}

export function isModuleRef(given: unknown): given is ModuleRef {
  if (typeof given !== 'object' || given === null) return false
  const { module, export: name } = given as Partial<ModuleRef>
  return typeof module === 'string' && typeof name === 'string'
}

/** The module that an option was given, as a reference. */
export function moduleOf(option: string, given: Module | string): ModuleRef {
  if (typeof given === 'string' || given instanceof URL) return reference(option, given, {})
  return reference(option, given.module, { export: given.export, with: given.with })
}

function reference(option: string, specifier: string | URL, options: FromModuleOptions): ModuleRef {
  const { export: name = 'default', with: argument } = record(option, options, ['export', 'with'])
  return Object.freeze({
    module: urlOf(option, specifier),
    export: text(`${option}.export`, name),
    with: copyOf(`${option}.with`, argument),
  })
}

function urlOf(option: string, specifier: unknown): string {
  const written = specifier instanceof URL ? specifier.href : specifier
  if (typeof written !== 'string') throw invalidOption(option, specifier, ALLOWED)
  if (URL.canParse(written) && SCHEMES.includes(new URL(written).protocol)) return new URL(written).href
  if (!isPackageName(written)) throw invalidOption(option, written, ALLOWED + meantModule(written))
  const folders = mainFolders()
  const url = packageUrl(written, folders)
  if (url !== undefined) return url
  const message =
    `${option}: package '${written}' cannot be imported from ${folders.join(' or ')}; ` +
    `install it, check its name and its exports, or pass a file: new URL('./mine.js', import.meta.url)`
  throw new KumoError('KUMO_MODULE_FAILED', message)
}

/** A path is relative to the file that contains it, which only that file knows. */
function meantModule(written: string): string {
  return /^\.{0,2}\//.test(written) ? `; did you mean new URL('${written}', import.meta.url)` : ''
}

/** A copy, as another thread would get it: later changes to the original must not make threads differ. */
function copyOf(option: string, value: unknown): unknown {
  try {
    return structuredClone(value)
  } catch {
    throw invalidOption(
      option,
      value,
      'data that can be posted to another thread: it must not contain functions',
    )
  }
}

/**
 * Imports a module and returns the referenced export.
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
      ? `it has ${missing} and no other exports; write \`export default …\``
      : `it has ${missing}, but exports ${names.join(', ')}; pick one, as in fromModule(url, { export: '${first}' })`,
  )
}

async function importModule(option: string, ref: ModuleRef): Promise<Record<string, unknown>> {
  let found: Record<string, unknown>
  try {
    found = await import(ref.module)
  } catch (error) {
    throw moduleFailed(option, ref, importProblem(ref.module, error), error)
  }
  // For a module compiled to CommonJS, `import` puts all its exports, including the default one, into the default export.
  const inner = found.default as Record<string, unknown> | null | undefined
  return inner?.__esModule === true ? inner : found
}

function importProblem(url: string, error: unknown): string {
  const path = url.startsWith('file:') ? fileURLToPath(url) : undefined
  if (path !== undefined && !existsSync(path)) {
    const source = path.replace(/js(x?)$/, 'ts$1')
    if (!existsSync(source)) return 'the file does not exist; check its name'
    return `the file does not exist, but ${source} does: compile it, or pass that file and ${RUN_TYPESCRIPT}`
  }
  if ((error as { code?: unknown } | undefined)?.code === 'ERR_UNKNOWN_FILE_EXTENSION' && /tsx?$/.test(url)) {
    return `Node.js ${process.version} cannot import TypeScript: pass the compiled .js file, or ${RUN_TYPESCRIPT}`
  }
  return `importing it failed: ${messageOf(error)}`
}

/** Before 22.18 a loader does not apply to worker threads; since then none is needed. */
const RUN_TYPESCRIPT =
  'run the program with Node.js 22.18 or later (an older one needs node --import tsx, which workers ignore)'

export function moduleFailed(option: string, ref: ModuleRef, why: string, cause?: unknown): KumoError {
  // A file URL is never shortened, because the file name is at its end.
  const shown = ref.module.startsWith('data:') ? show(ref.module) : ref.module
  return new KumoError('KUMO_MODULE_FAILED', `${option}: module ${shown}: ${why}`, { cause })
}

/** The maker in the recipe of a rule that stands for a module. */
export const MODULE_RULE = 'module'

/** A placeholder for the scope rule that a module exports, until the module is loaded. */
export function moduleRule(ref: ModuleRef): ScopeRule {
  const name = `module ${ref.module}`
  const start = () => {
    throw new KumoError('KUMO_CONTRACT_BROKEN', `${name} of the scope was used before it was loaded`)
  }
  return withRecipe({ name, start }, MODULE_RULE, ref)
}
