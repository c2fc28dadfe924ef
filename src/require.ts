/**
 * Loads packages on first use. Not with `import()`: a getter such as `page.document` cannot await it, and Jest, which uses
 * the CommonJS build, does not support it.
 */

import { createRequire } from 'node:module'
import { KumoError, messageOf } from './errors.js'

/** The URL of this module. Undefined in a CommonJS bundle, where `require` below fails with a helpful message. */
export const here: string | undefined = import.meta.url

let load: NodeJS.Require | undefined
/** What was loaded. */
const known = new Set<string>()

/**
 * Loads one of Kumo's dependencies, or a module of Node.js.
 *
 * @throws KumoError `KUMO_NOT_INSTALLED` if it cannot be loaded.
 */
export function require(name: string): unknown {
  try {
    load ??= createRequire(here!)
    const loaded: unknown = load(name)
    if (!known.has(name)) keepStringsFast()
    known.add(name)
    return loaded
  } catch (error) {
    const reason = messageOf(error).split('\n', 1)[0]
    const message = `Kumo could not load its dependency '${name}' (${reason}); ${KEEP_EXTERNAL}`
    throw new KumoError('KUMO_NOT_INSTALLED', message, { cause: error })
  }
}

/** The compiler notices after about ten. */
const LOOKUPS = 100

/**
 * Once any class extends `String`, as one of ioredis 6 does, V8 looks up the methods of all strings slowly, in all code of the
 * thread: a fingerprint takes six times as long. It recovers when methods of a `String` object are looked up a few times.
 */
function keepStringsFast(): void {
  const text = Object('') as string
  for (let i = 0; i < LOOKUPS; i++) lookUp(text)
}

function lookUp(text: string): unknown {
  return text.charCodeAt
}

/** Advice if Kumo was bundled. */
export const KEEP_EXTERNAL =
  'install kumo where the program runs and, if you bundle the program, keep kumo external: see docs/bundling.md'
