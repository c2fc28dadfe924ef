/**
 * Exceptions are for misuse and for broken backends. What happens on the web (timeouts, 503, endless bodies) is never
 * an exception: it is an `Outcome` with a `FailureCode`.
 */

/** The codes are stable; docs/errors.md says what to do about each. */
export type KumoErrorCode =
  /** An option was given a value that it does not take. */
  | 'KUMO_INVALID_OPTION'
  /** A crawler without seeds was started. */
  | 'KUMO_NO_SEEDS'
  /** The iterable given to `.seeds()` threw and the crawl ended; or one given to `run.add()` threw and it goes on. */
  | 'KUMO_SEEDS_FAILED'
  /** `run.add()` was called after the crawl had ended, or the crawl ended first. */
  | 'KUMO_RUN_ENDED'
  /** A store (frontier or seen-set) threw or rejected; the crawl ended. */
  | 'KUMO_STORE_FAILED'
  /** Another process, or another run of this one, uses the store's folder. */
  | 'KUMO_STORE_LOCKED'
  /** The data in the store's folder is damaged, so the store was not opened. */
  | 'KUMO_STORE_DAMAGED'
  /** The store was created with options that give its data another meaning, or by a newer version of Kumo. */
  | 'KUMO_STORE_MISMATCH'
  /** `resume: 'never'` found a crawl in the folder, or `resume: 'must'` found none. */
  | 'KUMO_STORE_RESUME'
  /** A hook, an extractor or the scope could not be opened; nothing was fetched. */
  | 'KUMO_OPEN_FAILED'
  /** A module with user code was not found, could not be imported, or does not have the expected export. */
  | 'KUMO_MODULE_FAILED'
  /** With workers: an option that must be a module was given as a value, which cannot be sent to a thread. */
  | 'KUMO_NOT_PORTABLE'
  /** A sink cannot write, and there is no room for more dead letters; or its file or table cannot be used. */
  | 'KUMO_SINK_FAILED'
  /** A part could not be closed, e.g. a hook that writes its last lines on close; the crawl itself is complete. */
  | 'KUMO_CLOSE_FAILED'
  /** A hook could not make durable what it was given, so the crawl ended without committing it. */
  | 'KUMO_FLUSH_FAILED'
  /** A part violated the contract it implements, e.g. returned a value of the wrong shape. */
  | 'KUMO_CONTRACT_BROKEN'
  /** A worker thread could not be started, or kept crashing; the crawl has ended. */
  | 'KUMO_WORKER_FAILED'
  /** An archive could not be written, or there is none where one is to be read. */
  | 'KUMO_ARCHIVE_FAILED'
  /** `page.document` was read, but the page is not markup, or a page is too large for a tree of its elements. */
  | 'KUMO_NO_DOCUMENT'
  /** `page.follow()` was called after the page was settled. */
  | 'KUMO_PAGE_SETTLED'
  /** `routes()` has no handler for a page; reported as a failure with the code `no-route`. */
  | 'KUMO_NO_ROUTE'
  /** Another process, or another part of this one, writes the search index. */
  | 'KUMO_INDEX_LOCKED'
  /** A file of the search index is damaged or missing. */
  | 'KUMO_INDEX_DAMAGED'
  /** The search index has other fields, stemmers or segmenters than the program asks for, or a newer format. */
  | 'KUMO_INDEX_MISMATCH'
  /** The search index could not be read or written, e.g. because the disk is full, or it was closed. */
  | 'KUMO_INDEX_FAILED'
  /** A search index on another machine did not answer in time, or not as one. */
  | 'KUMO_INDEX_UNREACHABLE'
  /** A bundler copied Kumo out of its package, or one of its dependencies is missing. */
  | 'KUMO_NOT_INSTALLED'
  /** The feature does not run on this runtime, which is not Node.js. */
  | 'KUMO_UNSUPPORTED_RUNTIME'

/** A program may load Kumo twice, as CommonJS and as ESM. Both copies recognize each other's errors by this symbol. */
const KUMO_ERROR = Symbol.for('kumo.error')

export class KumoError extends Error {
  override readonly name = 'KumoError'
  readonly code: KumoErrorCode

  constructor(code: KumoErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
    Object.defineProperty(this, KUMO_ERROR, { value: true })
  }
}

// Outside of the class, which would otherwise name itself, and bundlers rename such classes: `_KumoError` in stack traces.
Object.defineProperty(KumoError, Symbol.hasInstance, {
  value(this: unknown, value: unknown): boolean {
    // A class that extends this one inherits the method.
    if (this !== KumoError)
      return Function.prototype[Symbol.hasInstance].call(this as typeof KumoError, value)
    return typeof value === 'object' && value !== null && KUMO_ERROR in value
  },
})

/** Longest value that an error message shows in full: enough to recognize it, without filling the screen. */
const LONGEST_SHOWN = 80

/** A value as an error message shows it: short, and recognizable to its author. */
export function show(value: unknown): string {
  if (typeof value === 'string') return `'${shortened(value)}'`
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  const name = classNameOf(value)
  if (name !== undefined) return `${/^[AEIOU]/i.test(name) ? 'an' : 'a'} ${name}`
  try {
    return shortened(JSON.stringify(value) ?? String(value))
  } catch {
    return Object.prototype.toString.call(value)
  }
}

function shortened(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text
}

/** The class of an object whose JSON says little about it, such as a Set. */
function classNameOf(value: object): string | undefined {
  if (Array.isArray(value) || isPlainObject(value) || 'toJSON' in value) return undefined
  return value.constructor?.name || undefined
}

/** Whether an object was created by `{ … }`, in this realm or another, or without a prototype. */
export function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/**
 * The error for an option, or an argument of a public function, with a value that it does not accept.
 *
 * @example
 * throw invalidOption('depth', -1, 'a whole number, 0 or more') // depth: got -1; allowed: a whole number, 0 or more
 */
export function invalidOption(option: string, given: unknown, allowed: string): KumoError {
  return optionError(option, show(given), allowed)
}

/** Like `invalidOption`, but describes the value instead of showing it, e.g. because it may contain a password. */
export function optionError(option: string, description: string, allowed: string): KumoError {
  return new KumoError('KUMO_INVALID_OPTION', `${option}: got ${description}; allowed: ${allowed}`)
}

/** Throws unless the options are an object with no other keys than these: a typo must not pass for an option left out. */
export function assertKeys(option: string, given: unknown, keys: readonly string[]): void {
  if (typeof given !== 'object' || given === null || !isPlainObject(given))
    throw invalidOption(option, given, `an object with ${keys.join(', ')}`)
  const unknown = Object.keys(given).find((key) => !keys.includes(key))
  if (unknown !== undefined) throw optionError(option, `the key '${unknown}'`, keys.join(', '))
}

/** The message of anything that can be thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The error itself if it is a `KumoError`; otherwise one with this code that says what failed and why. */
export function asKumoError(error: unknown, code: KumoErrorCode, what: string): KumoError {
  if (error instanceof KumoError) return error
  return new KumoError(code, `${what}: ${messageOf(error)}`, { cause: error })
}

/** The text with a full stop at its end, unless it already ends with a punctuation mark. */
export function sentence(text: string): string {
  const written = text.trimEnd()
  return /[.!?…]$/.test(written) ? written : `${written}.`
}

/** `1 page`, `2 pages`. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
