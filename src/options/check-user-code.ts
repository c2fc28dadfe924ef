/** Checks of code of the user's own: each returns it as the crawl uses it, or throws an error that names the option. */

import { invalidOption, KumoError } from '../errors.js'
import type { Extractor } from '../extract/contract.js'
import type { Fetcher } from '../fetch/contract.js'
import type { Hook } from '../hooks/contract.js'
import { isModule, type Module, type ModuleRef, moduleOf, moduleRule } from '../modules/module.js'
import type { HostPartitioner } from '../partition/contract.js'
import type { SeenStore } from '../seen/contract.js'
import type { Store } from '../stores/contract.js'
import { toRule } from '../url/scope/combine.js'
import { domain } from '../url/scope/rules.js'
import type { ScopeLike, ScopeRule } from '../url/scope/scope.js'
import { integer, naming, part } from './check.js'
import type { Fields } from './options.js'

/** A reference if a module was given; otherwise what the check makes of the code itself. */
export function orModule<T>(option: string, given: unknown, check: (value: unknown) => T): T | ModuleRef {
  return isModule(given) ? moduleOf(option, given) : check(given)
}

export function store(value: unknown): Store {
  return part('store', value, ['open'], 'a store such as memory()')
}

export function seen(value: unknown): SeenStore {
  return part('seenStore', value, ['addAll', 'close'], 'a SeenStore')
}

export function partition(value: unknown): HostPartitioner {
  const partitioner = part<HostPartitioner>('partitioner', value, ['partition'], 'a HostPartitioner')
  integer('partitioner.partitions', partitioner.partitions, 1, 65_536)
  return partitioner
}

/** A fetcher, or its `fetch` alone. The fetch of the platform takes and returns other things. */
export function fetcher(value: unknown): Fetcher {
  const what = 'a Fetcher'
  if (value === globalThis.fetch) {
    const allowed = `${what}, which makes an Outcome of a CrawlRequest: docs/extending.md shows one`
    throw new KumoError('KUMO_INVALID_OPTION', `fetcher: got the global fetch function; allowed: ${allowed}`)
  }
  return part('fetcher', typeof value === 'function' ? { fetch: value } : value, ['fetch'], what)
}

/** Something that stands for a scope rule. */
export function scopeRule(option: string, value: ScopeLike | Module | undefined): ScopeRule {
  if (isModule(value)) return moduleRule(moduleOf(option, value))
  return naming(option, () => toRule(value as ScopeLike))
}

export function scopeRules(option: string, values: readonly (ScopeLike | Module)[]): ScopeRule[] {
  return values.map((value) => scopeRule(option, value))
}

/** A bare host name or address: no path, port or wildcard. */
const HOST_NAME = /^(?:[\p{L}\p{N}._-]+|\[?[\da-f.:]*:[\da-f.:]*:[\da-f.:]*\]?)$/iu

/** As a scope rule, but a host name means the host with all its subdomains on every port: it is there to close doors. */
export function blockRule(option: string, value: ScopeLike | Module): ScopeRule {
  if (typeof value === 'string' && HOST_NAME.test(value)) return naming(option, () => domain(value))
  return scopeRule(option, value)
}

export function blockRules(option: string, values: readonly (ScopeLike | Module)[]): ScopeRule[] {
  return values.map((value) => blockRule(option, value))
}

const PARTS_OF_EXTRACTORS = ['name', 'mediaTypes', 'open', 'extract', 'close']

/** Functions that make fields. */
export function fields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidOption('extract', value, 'an object of functions, or an extractor (with name and extract())')
  }
  const isNameless = 'extract' in value && typeof value.extract === 'function'
  if (isNameless && Object.keys(value).every((key) => PARTS_OF_EXTRACTORS.includes(key))) {
    throw invalidOption(
      'extract.name',
      (value as Partial<Extractor>).name,
      'a text: an extractor needs a name',
    )
  }
  for (const [field, make] of Object.entries(value)) {
    if (typeof make === 'function') continue
    throw invalidOption(
      `extract.${field}`,
      make,
      'a function of the page; an extractor needs a name and extract()',
    )
  }
  return value as Fields
}

/** Whether somebody means an extractor, and not functions that make fields. */
export function isExtractor(what: unknown): what is Extractor {
  const { name, extract } = (what ?? {}) as Partial<Extractor>
  return typeof name === 'string' && typeof extract === 'function'
}

const MEDIA_TYPE = /^[^\s/;,]+\/[^\s/;,]+$/

/** An extractor whose media types could ever fit one. */
export function extractor(value: Extractor): Extractor {
  const option = `extract('${value.name}')`
  optionalMethods(option, value, ['open', 'close'])
  const { mediaTypes } = value
  if (mediaTypes === undefined) return value
  const allowed = "a list such as ['text/html', 'image/*']"
  if (!Array.isArray(mediaTypes)) throw invalidOption(`${option}.mediaTypes`, mediaTypes, allowed)
  for (const type of mediaTypes) {
    if (typeof type === 'string' && MEDIA_TYPE.test(type)) continue
    throw invalidOption(`${option}.mediaTypes`, type, allowed)
  }
  return value
}

/** A hook that receives something: one whose methods are all misspelt would be silent for ever. */
export function hook(value: unknown): Hook {
  const { name, page, failure } = (value ?? {}) as Partial<Hook>
  if (typeof name !== 'string' || name === '' || (page === undefined && failure === undefined)) {
    throw invalidOption('use', value, 'a hook: an object with a name, and page() or failure()')
  }
  optionalMethods(`use('${name}')`, value as object, ['open', 'page', 'failure', 'close'])
  return value as Hook
}

function optionalMethods(option: string, value: object, methods: readonly string[]): void {
  for (const method of methods) {
    const found = (value as Record<string, unknown>)[method]
    if (found !== undefined && typeof found !== 'function') {
      throw invalidOption(`${option}.${method}`, found, 'a function')
    }
  }
}
