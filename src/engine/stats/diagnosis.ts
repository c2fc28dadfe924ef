import type { RuleState } from '../../url/scope/rule-use.js'
import type { NoPageReasons } from './no-page.js'

/** What a shard says about the result of its run. Plain data. */
export interface Diagnosis {
  /** Why there may be no page. */
  readonly noPage: NoPageReasons
  /** Which of the user's rules have matched. */
  readonly rules: readonly RuleState[]
}
