/**
 * What visits at regular intervals achieve for a page whose changes are a Poisson process. With x the mean number of
 * changes between two visits, (1 - e^-x) / x is both the share of changes that are caught (a visit sees at most one)
 * and the share of time for which the copy is up to date (Cho & Garcia-Molina 2003, "Effective page refresh policies").
 * So the two aims differ only in how they distribute visits among pages.
 */

/** Cached for the last target, because a crawl has only one. */
let lastTarget = Number.NaN
let lastChanges = 0

/**
 * The interval at which visits catch the share `target` of a page's changes. 0 for a target of 1, which no interval can
 * reach, and Infinity for 0.
 */
export function archiveIntervalMs(changeMs: number, target: number): number {
  if (target !== lastTarget) {
    lastChanges = changesBetweenVisits(target)
    lastTarget = target
  }
  return lastChanges * changeMs
}

/**
 * Solves (1 - e^-x) / x = target for x. 1 - e^-x - target·x is concave, and below 0 at 1 / target: from there Newton's
 * method descends to the solution without overshooting.
 */
function changesBetweenVisits(target: number): number {
  if (target >= 1) return 0
  if (!(target > 0)) return Number.POSITIVE_INFINITY
  let x = 1 / target
  for (let step = 0; step < 100; step++) {
    const next = x - (-Math.expm1(-x) - target * x) / (Math.exp(-x) - target)
    if (!(next < x) || next <= 0) break
    x = next
  }
  return x
}
