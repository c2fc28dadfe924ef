/** All that the hostile web can do, for tests, demo and docs to list. */

import { ACCESS } from './access.js'
import { BROKEN_HTTP } from './broken-http.js'
import { ENCODINGS } from './encodings.js'
import { REDIRECTS } from './redirects.js'
import { ROBOTS } from './robots.js'
import type { HostileRoute } from './route.js'
import { SITEMAPS } from './sitemaps.js'
import { TRAPS } from './traps.js'
import { TROUBLE } from './trouble.js'

/** Where one host has two routes for a path, the first answers. */
export const ROUTES: readonly HostileRoute[] = [
  ...BROKEN_HTTP,
  ...ENCODINGS,
  ...REDIRECTS,
  ...TROUBLE,
  ...ROBOTS,
  ...TRAPS,
  ...SITEMAPS,
  ...ACCESS,
]
