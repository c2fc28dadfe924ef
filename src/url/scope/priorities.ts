/** The priorities of links by rules: what `prioritize()` was given. */

import { invalidOption } from '../../errors.js'
import { withRecipe } from '../../modules/recipe.js'
import type { ScopeRule, ScopeTarget, ScopeTest } from './scope.js'
import type { PriorityRule, PriorityTest } from './url-table.js'

/** A rule that carries the priority of the links that match. */
export interface PrioritizedRule extends ScopeRule {
  readonly priority: number
}

/** @param priority Absent: the rule knows the priority of each URL by itself. */
export function prioritized(
  rule: ScopeRule | PriorityRule,
  priority?: number,
): PrioritizedRule | PriorityRule {
  if (priority === undefined && 'givesPriorities' in rule) return rule
  if (typeof priority !== 'number' || !Number.isFinite(priority))
    throw invalidOption('prioritize', priority, 'a number; within a host, larger ones are fetched first')
  const made = { name: rule.name, start: () => rule.start(), priority }
  return withRecipe(made, 'prioritized', rule, priority)
}

/** Prioritized rules during one run. */
export class Priorities {
  readonly #rules: readonly { readonly test: ScopeTest; readonly priority: number | undefined }[]

  constructor(rules: readonly ScopeRule[]) {
    this.#rules = rules.map((rule) => ({ test: rule.start(), priority: (rule as PrioritizedRule).priority }))
  }

  async open(): Promise<void> {
    for (const { test } of this.#rules) await test.open?.()
  }

  addSeed(url: string): void {
    for (const { test } of this.#rules) test.addSeed?.(url)
  }

  /** The priority of the first rule that matches. Undefined: none does. */
  of(target: ScopeTarget): number | undefined {
    for (const { test, priority } of this.#rules) {
      const found =
        'priorityOf' in test && priority === undefined ? (test as PriorityTest).priorityOf(target) : undefined
      if (found !== undefined) return found
      if (priority !== undefined && test.test(target) === true) return priority
    }
    return undefined
  }
}
