/**
 * What `import.meta.url` means in the CommonJS build. tsup has a shim of its own, but it takes a program with a global
 * `document` for a web page (under Jest many have one), and a `#` in a path for the end of it.
 */

import { pathToFileURL } from 'node:url'

export const importMetaUrl = pathToFileURL(__filename).href
