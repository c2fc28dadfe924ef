/** Finds rules that never matched: most often a typo, and otherwise nobody would notice. */

import { recipeOf } from '../../modules/recipe.js'
import type { ScopeAnswer, ScopePage, ScopeRule, ScopeTarget, ScopeTest } from './scope.js'

/** Starts a rule that is part of another one. */
type StartPart = (rule: ScopeRule) => ScopeTest

/** A combination of rules, whose parts can be watched one by one. */
export interface CombinedRule extends ScopeRule {
  start(startPart?: StartPart): ScopeTest
}

const COMBINATIONS: readonly string[] = ['all', 'any', 'not']

/** Starts a rule; of a combination, each part is started by `startPart`. */
export function startWatched(rule: ScopeRule, startPart: StartPart | undefined): ScopeTest {
  if (startPart === undefined) return rule.start()
  return COMBINATIONS.includes(recipeOf(rule)?.[0] ?? '')
    ? (rule as CombinedRule).start(startPart)
    : startPart(rule)
}

/** A test that also wants to see URLs that were decided without it. */
interface PeekingTest extends ScopeTest {
  peek?(target: ScopeTarget): void
}

/** Shows a URL to the rules after the one that decided: that they were not asked must not look as if they never match. */
export function peek(parts: readonly PeekingTest[], from: number, target: ScopeTarget): void {
  for (let i = from; i < parts.length; i++) parts[i]!.peek?.(target)
}

/** Whether a rule was ever asked, and whether it ever matched. Plain data. */
export interface RuleState {
  /** The option and the rule: `exclude: glob /login`. */
  readonly name: string
  readonly asked: boolean
  readonly matched: boolean
}

/** The rules of a run: those that the user gave, and in a combination each part. */
export class RuleUse {
  readonly #watched: WatchedTest[] = []

  /** The same rule; what it is made of is watched from its start. */
  watch(option: string, rule: ScopeRule): ScopeRule {
    const startPart = (part: ScopeRule) => {
      const test = part.start()
      const watched = test.testPage
        ? new WatchedPageTest(option, part, test)
        : new WatchedTest(option, part, test)
      this.#watched.push(watched)
      return watched
    }
    return { name: rule.name, start: () => startWatched(rule, startPart) }
  }

  states(): readonly RuleState[] {
    return this.#watched.map(({ name, asked, matched }) => ({ name, asked, matched }))
  }
}

class WatchedTest implements ScopeTest {
  readonly name: string
  readonly perOrigin: boolean
  readonly #test: ScopeTest
  /** Kumo's own rules have no effects, so they may be asked more often than needed. */
  readonly #isOwn: boolean
  asked = false
  matched = false

  constructor(option: string, rule: ScopeRule, test: ScopeTest) {
    this.name = `${option}: ${rule.name}`
    this.#isOwn = recipeOf(rule) !== undefined
    this.perOrigin = test.perOrigin
    this.#test = test
  }

  async open(): Promise<void> {
    await this.#test.open?.()
  }

  addSeed(url: string): void {
    this.#test.addSeed?.(url)
  }

  test(target: ScopeTarget): ScopeAnswer {
    this.asked = true
    const answer = this.#test.test(target)
    if (answer === true) this.matched = true
    return answer
  }

  /** Until it has matched once. */
  peek(target: ScopeTarget): void {
    if (!this.matched && this.#isOwn) this.test(target)
  }
}

class WatchedPageTest extends WatchedTest {
  readonly #testPage: NonNullable<ScopeTest['testPage']>

  constructor(option: string, rule: ScopeRule, test: ScopeTest) {
    super(option, rule, test)
    this.#testPage = test.testPage!.bind(test)
  }

  testPage(target: ScopeTarget, page: ScopePage): boolean {
    const answer = this.#testPage(target, page)
    if (answer) this.matched = true
    return answer
  }
}

/**
 * The names of the rules that never matched, in any of the shards. A function that was never called, because an earlier
 * rule always decided, is not named; but if no rule was asked, all are.
 */
export function unusedRules(shards: readonly (readonly RuleState[])[]): string[] {
  // All shards have the same rules, in the same order.
  const states = (shards[0] ?? []).map(({ name }, i) => ({
    name,
    asked: shards.some((states) => states[i]?.asked),
    matched: shards.some((states) => states[i]?.matched),
  }))
  const wasAsked = states.some(({ asked }) => asked)
  const unused = states.filter(({ asked, matched }) => !matched && asked === wasAsked)
  return [...new Set(unused.map(({ name }) => name))]
}
