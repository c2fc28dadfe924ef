/** Where the packed package is unpacked for tests: as an application would have it installed. */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const KEPT = fileURLToPath(new URL('../../node_modules/.kumo-test', import.meta.url))

/** Inside node_modules, so that the dependencies of the package are found there. */
export const APP = join(KEPT, 'app')
export const INSTALLED = join(APP, 'node_modules/kumo')
/** The same application with undici 8. */
export const APP_WITH_UNDICI_8 = join(KEPT, 'app-undici-8')
/** Downloads: other versions of Node.js and undici, and other runtimes, by name. */
export const DOWNLOADS = join(KEPT, 'runtimes')
