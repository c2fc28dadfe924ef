/** The plan of a search on its way to the parts: without the places of its terms, which differ from part to part. */

import type { Group } from '../query/group.js'
import type { Plan } from '../query/plan.js'
import type { FoundTerm, TermFinder } from '../query/terms.js'
import type { PlannedGroup, PlannedSearch } from './contract.js'

export function plannedSearch({ required, excluded }: Pick<Plan, 'required' | 'excluded'>): PlannedSearch {
  return { required: required.map(planned), excluded: excluded.map(planned) }
}

function planned({ clause, readings, field, count }: Group): PlannedGroup {
  return {
    clause,
    readings: readings.map(({ words, slots, weight }) => ({
      words,
      slots: slots.map((terms) => terms.map((each) => [each.term, each.weight, each.count] as const)),
      weight,
    })),
    field,
    count,
  }
}

/** With the places that its terms have in this part, and still the counts of all parts. */
export function boundPlan({ required, excluded }: PlannedSearch, finder: TermFinder) {
  return {
    required: required.map((group) => bound(group, finder)),
    excluded: excluded.map((group) => bound(group, finder)),
  }
}

function bound({ clause, readings, field, count }: PlannedGroup, finder: TermFinder): Group {
  return {
    clause,
    readings: readings.map(({ words, slots, weight }) => ({
      words,
      slots: slots.map((terms) =>
        terms.map(
          ([term, own, total]): FoundTerm => ({
            term,
            weight: own,
            count: total,
            entries: finder.exact(term)?.entries ?? [],
          }),
        ),
      ),
      weight,
    })),
    field,
    count,
  }
}
