/** Where the packed package is unpacked for tests: as an application would have it installed. */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const KEPT = fileURLToPath(new URL('../../node_modules/.kumo-test', import.meta.url))

/** Inside node_modules, so that the dependencies of the package are found there. */
export const APP = join(KEPT, 'app')
export const INSTALLED = join(APP, 'node_modules/kumo')
/** Other versions of Node.js, and other runtimes, by name. */
export const RUNTIMES = join(KEPT, 'runtimes')
