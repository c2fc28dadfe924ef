/** The experiments of system E (Tamura & Kitsuregawa 2009), and those about its page schedule. */

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
