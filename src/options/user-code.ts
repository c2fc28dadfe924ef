/**
 * The options that take code of the user, each described once: how a value is checked, whether it may be a function, how
 * it gets to a worker thread, and what a module with such code looks like. The builder, loading (modules/load.ts),
 * carrying to threads (modules/portable.ts) and their error messages all derive from this table.
 */

import { invalidOption, KumoError, optionError } from '../errors.js'
import type { Extractor } from '../extract/contract.js'
import { fieldExtractor } from '../extract/fields.js'
import type { Hook } from '../hooks/contract.js'
import { session } from '../hooks/session/session.js'
import { isModule, type ModuleRef, moduleOf, moduleRule } from '../modules/module.js'
import type { Recipe } from '../modules/recipe.js'
import { byHost } from '../partition/by-host.js'
import type { HostPartitioner } from '../partition/contract.js'
import { searchIndex } from '../search/search-index.js'
import { level } from '../stores/level/level.js'
import { memory } from '../stores/memory.js'
import { redisLater } from '../stores/redis-later.js'
import { checkRewrite, indexPages } from '../url/rewrite.js'
import { needsPage, remake, toRule } from '../url/scope/combine.js'
import { isFileName } from '../url/scope/file-names.js'
import { domain } from '../url/scope/rules.js'
import type { ScopeLike, ScopeRule } from '../url/scope/scope.js'
import { warc } from '../warc/hook.js'
import { warcReplay } from '../warc/replay.js'
import { boolean, type Check, frontierPart, integer, keys, naming, part } from './check.js'
import { checked } from './check-access.js'
import { meantField, meantPartitioner, meantStore } from './meant.js'
import type { CodeOption, CrawlOptions, Fields, GivenOptions, PartOption, RuleOption } from './options.js'

/**
 * An option that takes code. With worker threads a module always works: every thread loads it. Without a module, a value
 * that was made by one of Kumo's own functions travels as its recipe if the option has `remake`; a value stays in the
 * program's thread, and workers call it there, if the option has `describe`; any other value is an error.
 */
export interface UserCode<T> {
  /** The option in messages: the builder's method, or `method.key`. */
  readonly option: string
  /** Returns a value as the crawl uses it, or throws an error that names the option. */
  check(value: unknown): T
  /** Checks what a module provides, where less is allowed than for a value. */
  checkExport?(value: unknown): T
  /** Whether a function can be the part itself. If so, a module's function is called only if `with` is given. */
  readonly mayBeFunction?: boolean
  /** Whether a module must export a function, because each run in each thread needs a part of its own. */
  readonly isPerRun?: boolean
  /** Whether a text is the name of a package. */
  readonly mayBePackage?: boolean
  /** Makes a ready-made value again from its recipe, in another thread. */
  remake?(recipe: Recipe): T
  /** What a worker must know of a value that stays in the program's thread. */
  describe?(value: T): object
  /** The smallest module, after `export default`. */
  readonly example: string
}

/** One value of an option; of a list option, one entry. */
type ValueOf<K extends CodeOption> =
  NonNullable<CrawlOptions[K]> extends readonly (infer Item)[] ? Item : NonNullable<CrawlOptions[K]>

/** In the order in which modules are loaded. */
export const USER_CODE: { readonly [K in CodeOption]: UserCode<ValueOf<K>> } = {
  proxy: {
    option: 'proxy',
    check: (value) => checked({ proxy: asText(value) as ValueOf<'proxy'> }).proxy,
    mayBeFunction: true,
    example: '(url) => …',
  },
  resolver: {
    option: 'dns',
    check: (value) => part('dns', value, ['resolve'], 'a resolver'),
    example: '{ resolve: async (host) => … }',
  },
  rewrite: {
    option: 'urls.rewrite',
    check: (value) => checkRewrite('urls.rewrite', value),
    mayBeFunction: true,
    remake: remakeBy({ indexPages }),
    example: '(url) => …',
  },
  scope: ruleCode('scope', toScopeRule),
  include: ruleCode('include', toScopeRule),
  exclude: ruleCode('exclude', toScopeRule),
  block: ruleCode('block', toBlockRule),
  prioritize: ruleCode('prioritize', (option, value) => ofUrls(option, toScopeRule(option, value))),
  store: {
    option: 'store',
    check: (value) =>
      part('store', value, ['open'], "a store such as level('./crawl') or memory()", meantStore(value)),
    remake: remakeBy({ memory, level, redis: redisLater }),
    example: "{ name: 'mine', open: (context) => … }",
  },
  partitioner: {
    option: 'partitioner',
    check: checkPartitioner,
    remake: remakeBy({ byHost }),
    example: '{ partitions: 1024, partition: (host) => … }',
  },
  frontier: {
    option: 'frontier',
    check: (value) =>
      typeof value === 'function' ? (value as ValueOf<'frontier'>) : frontierPart('frontier', value),
    checkExport: (value) => checkFunction('frontier', value, 'a function of the store context'),
    mayBeFunction: true,
    isPerRun: true,
    example: '(context) => …',
  },
  seenStore: {
    option: 'seenStore',
    check: (value) => part('seenStore', value, ['addAll', 'close'], 'a SeenStore'),
    isPerRun: true,
    example: '() => …',
  },
  fetcher: {
    option: 'fetcher',
    check: checkFetcher,
    mayBeFunction: true,
    remake: remakeBy({ warcReplay }),
    example: 'async (request, context) => …',
  },
  retryWhen: {
    option: 'retries.when',
    check: (value) =>
      checkFunction('retries.when', value, 'a function of failure and request, or a module that exports one'),
    mayBeFunction: true,
    example: '(failure, request) => …',
  },
  digest: {
    option: 'refresh.digest',
    check: (value) =>
      checkFunction('refresh.digest', value, 'a function of a page, or a module that exports one'),
    mayBeFunction: true,
    example: '(page) => …',
  },
  extractors: {
    option: 'extract',
    check: (value) =>
      isExtractor(value) ? checkExtractor(value) : fieldExtractor({ ...checkFields(value) }),
    mayBePackage: true,
    describe: ({ name, mediaTypes }) => ({ name, mediaTypes }),
    example: '{ price: (page) => … }',
  },
  hooks: {
    option: 'use',
    check: checkHook,
    mayBePackage: true,
    remake: remakeBy({ searchIndex, session, warc }),
    describe: (hook) => {
      if (hook.session !== undefined) throw sessionWithFunctions(hook.name)
      const calls = HOOK_CALLS.filter((call) => hook[call] !== undefined)
      return { name: hook.name, calls, queue: hook.queue && { ...hook.queue } }
    },
    example: "{ name: 'mine', page: (page) => … }",
  },
}

export const CODE_OPTIONS = Object.keys(USER_CODE) as readonly CodeOption[]

/** Checks what a builder method was given: a value, or a module, which stays a reference. */
export function accept<K extends PartOption>(key: K, given: unknown): ValueOf<K> | ModuleRef {
  const { option, check, mayBePackage = false }: UserCode<ValueOf<K>> = USER_CODE[key]
  const isReference = isModule(given) || (mayBePackage && typeof given === 'string')
  return isReference ? moduleOf(option, given) : check(given)
}

/** Checks scope rules; a module is wrapped in a rule until it is loaded. */
export function acceptRules(key: RuleOption, given: readonly unknown[]): ScopeRule[] {
  const { option, check } = USER_CODE[key]
  return given.map((each) => (isModule(each) ? moduleRule(moduleOf(option, each)) : check(each)))
}

/** Adds what `.extract()` was given: fields join those of earlier calls, anything else is an extractor of its own. */
export function withExtractor(
  { fields, extractors }: GivenOptions,
  given: unknown,
): Pick<GivenOptions, 'fields' | 'extractors'> {
  if (typeof given === 'string' || isModule(given) || isExtractor(given)) {
    return { fields, extractors: [...extractors, accept('extractors', given)] }
  }
  return { fields: { ...fields, ...checkFields(given) }, extractors }
}

/** All extractors in the order in which they run: the fields are one, the first. */
export function allExtractors<E>(options: { fields: Fields; extractors: readonly E[] }): (E | Extractor)[] {
  const { fields, extractors } = options
  return Object.keys(fields).length > 0 ? [fieldExtractor(fields), ...extractors] : [...extractors]
}

/** Makes values again with the named functions. */
function remakeBy<T>(makers: Readonly<Record<string, (...given: never[]) => T>>): (recipe: Recipe) => T {
  return ([maker, ...given]) => makers[maker]!(...(given as never[]))
}

function ruleCode(
  option: RuleOption,
  toRule: (option: string, value: unknown) => ScopeRule,
): UserCode<ScopeRule> {
  return {
    option,
    check: (value) => toRule(option, value),
    mayBeFunction: true,
    remake: (recipe) => remake(recipe)!,
    example: '(target) => …',
  }
}

function toScopeRule(option: string, value: unknown): ScopeRule {
  return naming(option, () => toRule(value as ScopeLike))
}

/** A bare host name or address: no path, port or wildcard. */
const HOST_NAME = /^(?:[\p{L}\p{N}._-]+|\[?[\da-f.:]*:[\da-f.:]*:[\da-f.:]*\]?)$/iu

/** In a block-list a host name means the host with all its subdomains on every port, so that no way in stays open. */
function toBlockRule(option: string, value: unknown): ScopeRule {
  if (typeof value === 'string' && HOST_NAME.test(value) && !isFileName(value))
    return naming(option, () => domain(value))
  return ofUrls(option, toScopeRule(option, value))
}

/** A rule that decides before the fetch. */
function ofUrls(option: string, rule: ScopeRule): ScopeRule {
  if (!needsPage(rule)) return rule
  const allowed = `a rule that needs no page${option === 'block' ? '; did you mean .exclude()' : ''}`
  throw optionError(option, `the rule '${rule.name}'`, allowed)
}

/** A URL as text, which can be sent to another thread. */
function asText(value: unknown): unknown {
  return value instanceof URL ? value.href : value
}

function checkFunction<T>(option: string, value: unknown, allowed: string): T {
  if (typeof value === 'function') return value as T
  throw invalidOption(option, value, allowed)
}

function checkPartitioner(value: unknown): HostPartitioner {
  const partitioner = part<HostPartitioner>(
    'partitioner',
    value,
    ['partition'],
    'a HostPartitioner',
    meantPartitioner(value),
  )
  integer('partitioner.partitions', partitioner.partitions, 1, 65_536)
  return partitioner
}

/** A fetcher, or its `fetch` alone. The platform's fetch is refused: it takes and returns something else. */
function checkFetcher(value: unknown): ValueOf<'fetcher'> {
  const allowed = 'a Fetcher'
  if (value === globalThis.fetch) {
    const hint = `${allowed}, which turns a CrawlRequest into an Outcome; docs/extending.md shows one`
    throw optionError('fetcher', 'the global fetch function', hint)
  }
  return part('fetcher', typeof value === 'function' ? { fetch: value } : value, ['fetch'], allowed)
}

const KEYS_OF_EXTRACTORS = ['name', 'mediaTypes', 'open', 'extract', 'close']

function checkFields(value: unknown): Fields {
  // A URL has no keys of its own, and would pass for an object without fields.
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof URL) {
    const modules = "or a module such as new URL('./mine.js', import.meta.url)"
    const allowed = `an object of functions, an extractor (with name and extract()), ${modules}`
    throw invalidOption('extract', value, allowed)
  }
  const hasExtract = 'extract' in value && typeof value.extract === 'function'
  if (hasExtract && Object.keys(value).every((key) => KEYS_OF_EXTRACTORS.includes(key))) {
    const { name } = value as Partial<Extractor>
    throw invalidOption('extract.name', name, 'a text: an extractor needs a name')
  }
  for (const [field, compute] of Object.entries(value)) {
    if (typeof compute === 'function') continue
    const allowed = 'a function of the page; an extractor needs a name and extract()'
    throw invalidOption(`extract.${field}`, compute, allowed + meantField(field, compute))
  }
  return value as Fields
}

/** Whether the user means an extractor, and not functions that compute fields. */
function isExtractor(given: unknown): given is Extractor {
  const { name, extract } = (given ?? {}) as Partial<Extractor>
  return typeof name === 'string' && typeof extract === 'function'
}

const MEDIA_TYPE = /^[^\s/;,]+\/[^\s/;,]+$/

function checkExtractor(value: Extractor): Extractor {
  const option = `extract('${value.name}')`
  checkOptionalMethods(option, value, ['open', 'close'])
  const { mediaTypes } = value
  if (mediaTypes === undefined) return value
  const allowed = "a list such as ['text/html', 'image/*']"
  if (!Array.isArray(mediaTypes)) throw invalidOption(`${option}.mediaTypes`, mediaTypes, allowed)
  for (const type of mediaTypes) {
    // Any other text never matches a media type, and the extractor would never run.
    if (typeof type === 'string' && MEDIA_TYPE.test(type)) continue
    throw invalidOption(`${option}.mediaTypes`, type, allowed)
  }
  return value
}

function checkHook(value: unknown): Hook {
  const hook = (value ?? {}) as Partial<Hook>
  const { name, session, queue } = hook
  const isGiven = session !== undefined || GIVEN_TO_HOOKS.some((call) => hook[call] !== undefined)
  // A hook whose methods are all misspelled would never be called.
  if (typeof name !== 'string' || name === '' || !isGiven) {
    throw invalidOption('use', value, 'a hook: an object with a name, and page(), failure() or feed()')
  }
  const option = `use('${name}')`
  checkOptionalMethods(option, value as object, ['open', ...HOOK_CALLS, 'close'])
  if (queue !== undefined) keys(`${option}.queue`, queue, QUEUE_CHECKS)
  return value as Hook
}

/** What a hook may be given, and with `flush` all calls between opening and closing. */
const GIVEN_TO_HOOKS = ['page', 'failure', 'redirect', 'skip', 'feed', 'exchange'] as const
const HOOK_CALLS = [...GIVEN_TO_HOOKS, 'flush'] as const

const atLeastOne: Check<number> = (option, value) => integer(option, value, 1, Number.MAX_SAFE_INTEGER)
const QUEUE_CHECKS = { parallelism: atLeastOne, pages: atLeastOne, bytes: atLeastOne, offload: boolean }

/** Pages are judged in the thread that fetches them, so a session cannot stay in the program's thread. */
function sessionWithFunctions(name: string): KumoError {
  const message =
    `use: the functions of the ${name} cannot be sent to worker threads; move it to a module, ` +
    "e.g. session.js with `export default session({ … })`, and pass .use(new URL('./session.js', import.meta.url))"
  return new KumoError('KUMO_NOT_PORTABLE', message)
}

function checkOptionalMethods(option: string, value: object, methods: readonly string[]): void {
  for (const method of methods) {
    const found = (value as Record<string, unknown>)[method]
    if (found !== undefined && typeof found !== 'function') {
      throw invalidOption(`${option}.${method}`, found, 'a function')
    }
  }
}
