/** Checks of the retry policy. */

import * as check from './check.js'
import type { GivenOptions, RetryOptions } from './options.js'
import { accept } from './user-code.js'

type Retries = Pick<GivenOptions, 'retries' | 'retryWhen'>

const period: check.Check<number> = (option, value) => check.duration(option, value, 1)
const upToThousand =
  (least: number): check.Check<number> =>
  (option, value) =>
    check.integer(option, value, least, 1000)

const retryTimes: check.Check<number> = (option, value) => check.integer(option, value, 0)

/** The policy before, with what is given. */
export function retryOptions(before: Retries, rules: number | RetryOptions): Retries {
  const { retries, retryWhen } = before
  if (typeof rules !== 'object' || rules === null)
    return { retries: { ...retries, times: retryTimes('retries', rules) }, retryWhen }
  const given = check.keys('retries', rules, {
    times: retryTimes,
    backoff: period,
    maxBackoff: period,
    maxRetryAfter: check.duration,
    cooldownAfter: upToThousand(1),
    cooldown: period,
    cooldowns: upToThousand(0),
    statuses: check.statuses,
    when: (_, value) => accept('retryWhen', value),
  })
  return {
    retries: {
      times: given.times ?? retries.times,
      statuses: given.statuses ?? retries.statuses,
      backoffMs: given.backoff ?? retries.backoffMs,
      maxBackoffMs: given.maxBackoff ?? retries.maxBackoffMs,
      maxRetryAfterMs: given.maxRetryAfter ?? retries.maxRetryAfterMs,
      cooldownAfter: given.cooldownAfter ?? retries.cooldownAfter,
      cooldownMs: given.cooldown ?? retries.cooldownMs,
      cooldowns: given.cooldowns ?? retries.cooldowns,
    },
    retryWhen: given.when ?? retryWhen,
  }
}
