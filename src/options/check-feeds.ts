import { invalidOption } from '../errors.js'
import type { DiscoverRules, FeedsOptions, FollowRules } from '../feeds/follow/contract.js'
import { pollRules } from '../feeds/schedule/rules.js'
import { boolean, type Check, count, keys, text } from './check.js'

const DEFAULT_LABEL = 'article'
/** A site has one feed, or a handful by topic; a blog that declares one for each article must not fill the schedule. */
const DEFAULT_PER_HOST = 10

const unchecked: Check<unknown> = (_, value) => value

const CHECKS = {
  // These are for `pollRules`.
  budget: unchecked,
  lost: unchecked,
  min: unchecked,
  max: unchecked,
  aim: unchecked,
  discover: checkDiscover,
  articles: checkArticles,
  once: boolean,
} satisfies { [Key in keyof FeedsOptions]-?: Check<unknown> }

export function feedOptions(value: unknown): FollowRules {
  const { discover, articles, once = false, ...polls } = keys('feeds', value, CHECKS)
  return { polls: pollRules(polls as FeedsOptions), discover, articles, once }
}

function checkDiscover(option: string, value: unknown): FollowRules['discover'] {
  if (value === false) return undefined
  const checks = { anchors: boolean, guess: boolean, perHost: atLeastOne }
  const given = value === true ? {} : keys(option, value, checks)
  const { anchors = true, guess = false, perHost = DEFAULT_PER_HOST } = given as DiscoverRules
  return { anchors, guess, perHost }
}

function checkArticles(option: string, value: unknown): FollowRules['articles'] {
  if (value === false) return undefined
  if (value === 'fetch') return { label: DEFAULT_LABEL }
  if (typeof value !== 'object') throw invalidOption(option, value, "'fetch', false, or { label }")
  const { label = DEFAULT_LABEL } = keys(option, value, { label: text })
  return { label }
}

function atLeastOne(option: string, value: unknown): number {
  return count(option, value, 1)
}
