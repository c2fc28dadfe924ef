import { messageOf } from '../../errors.js'
import { scopeTarget } from '../../url/scope/scope.js'
import type { EngineParts } from '../parts.js'

/** What the rules of `prioritize()` say about a link. Undefined: nothing. */
export type PriorityOf = (url: string, depth: number, parent: string) => number | undefined

/** If a rule throws, the link keeps the priority that it has without rules. */
export function priorityOf({
  priorities,
  delivery,
}: Pick<EngineParts, 'priorities' | 'delivery'>): PriorityOf | undefined {
  return (
    priorities &&
    ((url, depth, parent) => {
      try {
        return priorities.of(scopeTarget(url, depth, parent))
      } catch (error) {
        delivery.warn(`prioritize: a rule threw for ${url}: ${messageOf(error)}`)
        return undefined
      }
    })
  )
}
