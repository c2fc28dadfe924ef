/** The priorities of links by rules: what `prioritize()` was given. */

import { invalidOption } from '../../errors.js'
import { withRecipe } from '../../modules/recipe.js'
import type { ScopeRule, ScopeTarget, ScopeTest } from './scope.js'

/** A rule that carries the priority of the links that match. */
export interface PrioritizedRule extends ScopeRule {
  readonly priority: number
}

export function prioritized(rule: ScopeRule, priority: number): PrioritizedRule {
  if (typeof priority !== 'number' || !Number.isFinite(priority))
    throw invalidOption('prioritize', priority, 'a number; within a host, larger ones are fetched first')
  const made = { name: rule.name, start: () => rule.start(), priority }
  return withRecipe(made, 'prioritized', rule, priority)
}

/** Prioritized rules during one run. */
export class Priorities {
  readonly #rules: readonly { readonly test: ScopeTest; readonly priority: number }[]

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
    return this.#rules.find(({ test }) => test.test(target) === true)?.priority
  }
}
