/** The experiments of system C (Soejima et al. 2007), and Kumo's schedule against theirs. */

import type { Claim } from '../table.js'
import { allocation } from './allocation.js'
import { paperExperiments } from './paper.js'

export function feeds(): readonly Claim[] {
  return [...paperExperiments(), ...allocation()]
}
