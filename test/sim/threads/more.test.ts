import { describe } from 'vitest'
import { isThorough } from '../../thorough.js'
import { crewRuns } from './runs.js'

// What `KUMO_SEED` and `KUMO_RUNS` ask for is done by threads.test.ts.
const isWanted = isThorough && process.env.KUMO_SEED === undefined && process.env.KUMO_RUNS === undefined

describe.runIf(isWanted)('the other half', () => crewRuns(501, 500))
