/**
 * Exceptions are for misuse and for broken backends. What the web does to a crawl (timeouts, 503, a body
 * without end) is never an exception: it is an `Outcome` with a `FailureCode`.
 */

/** Stable codes to match on; docs/errors.md says for each what to do. */
export type KumoErrorCode =
  /** An option was given a value that it does not take. */
  | 'KUMO_INVALID_OPTION'
  /** A crawler without seeds was started. */
  | 'KUMO_NO_SEEDS'
  /** The iterable given to `.seeds()` threw; the crawl ended. */
  | 'KUMO_SEEDS_FAILED'
  /** A store (frontier or seen-set) threw or rejected; the crawl ended. */
  | 'KUMO_STORE_FAILED'
  /** Another process, or another run of this one, uses the store's folder. */
  | 'KUMO_STORE_LOCKED'
  /** What the store's folder holds is damaged, and it is not opened as if nothing were. */
  | 'KUMO_STORE_DAMAGED'
  /** The store was made with options that give its data another meaning, or by a newer version of Kumo. */
  | 'KUMO_STORE_MISMATCH'
  /** `resume: 'never'` found a crawl in the folder, or `resume: 'must'` found none. */
  | 'KUMO_STORE_RESUME'
  /** A hook, an extractor or the scope could not be opened; nothing was fetched. */
  | 'KUMO_OPEN_FAILED'
  /** A module of the user's code was not found, could not be imported, or does not export what is wanted of it. */
  | 'KUMO_MODULE_FAILED'
  /** With worker threads: something was given as a value of this thread where only a module can be used. */
  | 'KUMO_NOT_PORTABLE'
  /** A part could not be closed, e.g. a hook that writes its last lines then; the crawl itself is over. */
  | 'KUMO_CLOSE_FAILED'
  /** A part broke the contract it implements, e.g. returned a value of the wrong shape. */
  | 'KUMO_CONTRACT_BROKEN'
  /** A worker thread could not be started, or died again and again; the crawl ended. */
  | 'KUMO_WORKER_FAILED'
  /** `page.document` was asked of something that is not markup. */
  | 'KUMO_NO_DOCUMENT'
  /** Kumo was taken out of its package by a bundler, or one of its dependencies is missing. */
  | 'KUMO_NOT_INSTALLED'
  /** This is not Node.js, and what was asked does not run on it. */
  | 'KUMO_UNSUPPORTED_RUNTIME'

/** A program may hold Kumo twice, as CommonJS and as a module; both know each other's errors by this. */
const KUMO_ERROR = Symbol.for('kumo.error')

export class KumoError extends Error {
  override readonly name = 'KumoError'
  readonly code: KumoErrorCode

  constructor(code: KumoErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
    Object.defineProperty(this, KUMO_ERROR, { value: true })
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a class that extends this one inherits the method.
    if (this !== KumoError) return super[Symbol.hasInstance](value)
    return typeof value === 'object' && value !== null && KUMO_ERROR in value
  }
}

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

/** The message of anything that can be thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** What was thrown, if it is one of these; otherwise one with this code that says what failed and why. */
export function asKumoError(error: unknown, code: KumoErrorCode, what: string): KumoError {
  if (error instanceof KumoError) return error
  return new KumoError(code, `${what}: ${messageOf(error)}`, { cause: error })
}

/** A text with one full stop at its end. What others wrote may have one already, or another mark. */
export function sentence(text: string): string {
  const written = text.trimEnd()
  return /[.!?…]$/.test(written) ? written : `${written}.`
}

/** `1 page`, `2 pages`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
