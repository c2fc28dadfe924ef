/** System E's experiments (Tamura & Kitsuregawa 2009), and what its page schedule is good for. */

import type { Claim } from '../table.js'
import { estimator } from './estimator.js'
import { freshnessAgainstBudget } from './freshness.js'
import { overload } from './overload.js'
import { missesAgainstSockets } from './sockets.js'
import { spareSockets } from './spare.js'

export function refresh(): readonly Claim[] {
  return [
    ...missesAgainstSockets(),
    ...spareSockets(),
    ...estimator(),
    ...freshnessAgainstBudget(),
    ...overload(),
  ]
}
