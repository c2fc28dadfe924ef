/** What every change runs is a seeded sample of the long tests; `npm run test:thorough` runs them whole. */

export const isThorough = process.env.KUMO_THOROUGH === '1'

/** The first `count` of the cases, or all of them in a thorough run. */
export function sample<T>(cases: readonly T[], count: number): readonly T[] {
  return isThorough ? cases : cases.slice(0, count)
}

/** How long the random walks of the suites for adapters are: as long as by default in a thorough run. */
export const WALKS: { readonly operations?: number } = isThorough ? {} : { operations: 1000 }
