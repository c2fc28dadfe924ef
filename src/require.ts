/**
 * Packages that are loaded when they are first needed. Not by `import()`: a getter such as `page.document` cannot wait
 * for one, and under Jest, which runs the CommonJS build, Node.js refuses it.
 */

import { createRequire } from 'node:module'
import { KumoError, messageOf } from './errors.js'

/** Where the file is that this module is in. Absent in a CommonJS bundle, which fails later with more to say. */
export const here: string | undefined = import.meta.url

let load: NodeJS.Require | undefined

/**
 * What one of Kumo's own dependencies, or Node.js itself, exports under this name.
 *
 * @throws KumoError `KUMO_NOT_INSTALLED` if it cannot be loaded.
 */
export function require(name: string): unknown {
  try {
    load ??= createRequire(here!)
    return load(name)
  } catch (error) {
    const why = messageOf(error).split('\n', 1)[0]
    const message = `Kumo needs the package '${name}', which could not be loaded (${why}); ${KEEP_EXTERNAL}`
    throw new KumoError('KUMO_NOT_INSTALLED', message, { cause: error })
  }
}

/** What to do when Kumo was taken out of its package. */
export const KEEP_EXTERNAL =
  'install kumo where the program runs, and if you bundle the program, keep kumo external: see docs/bundling.md'
