/** A host gives exactly as many pages as it may, however they overlap and fail. */

import { describe, expect, test } from 'vitest'
import { HostQuota } from '../../../src/engine/visit/host-quota.js'

type Step =
  | ['claim', host: string, 'go' | 'full' | 'wait']
  | ['release', host: string, delivered: boolean]
  | ['full', host: string, boolean]

test.each<[string, number, Step[]]>([
  [
    'without a limit everything goes',
    Number.POSITIVE_INFINITY,
    [
      ['claim', 'a', 'go'],
      ['claim', 'a', 'go'],
      ['release', 'a', true],
      ['full', 'a', false],
      ['claim', 'a', 'go'],
    ],
  ],
  [
    'one page',
    1,
    [
      ['full', 'a', false],
      ['claim', 'a', 'go'],
      ['claim', 'a', 'wait'],
      ['full', 'a', false],
      ['release', 'a', true],
      ['full', 'a', true],
      ['claim', 'a', 'full'],
    ],
  ],
  [
    'a page that fails gives its place back',
    1,
    [
      ['claim', 'a', 'go'],
      ['release', 'a', false],
      ['full', 'a', false],
      ['claim', 'a', 'go'],
      ['release', 'a', true],
      ['claim', 'a', 'full'],
    ],
  ],
  [
    'several under way',
    3,
    [
      ['claim', 'a', 'go'],
      ['claim', 'a', 'go'],
      ['claim', 'a', 'go'],
      ['claim', 'a', 'wait'],
      ['release', 'a', true],
      ['claim', 'a', 'wait'],
      ['release', 'a', false],
      ['claim', 'a', 'go'],
      ['release', 'a', true],
      ['release', 'a', true],
      ['claim', 'a', 'full'],
    ],
  ],
  [
    'hosts do not mix',
    1,
    [
      ['claim', 'a', 'go'],
      ['claim', 'b', 'go'],
      ['release', 'a', true],
      ['full', 'b', false],
      ['full', 'a', true],
    ],
  ],
])('%s', (_, limit, steps) => {
  const quota = new HostQuota(limit)
  for (const [i, step] of steps.entries()) {
    if (step[0] === 'release') quota.release(step[1], step[2])
    else expect(step[0] === 'claim' ? quota.claim(step[1]) : quota.isFull(step[1]), `step ${i}`).toBe(step[2])
  }
})

describe('waiting', () => {
  test('is asked again later, not at once', () => {
    expect(new HostQuota(1).retryAt(1000)).toBeGreaterThan(1000)
  })

  test('any order of claims and releases keeps to the limit', () => {
    let state = 7
    const chance = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
    const quota = new HostQuota(10)
    let [inFlight, delivered, tries] = [0, 0, 0]
    while (delivered < 10) {
      expect(++tries).toBeLessThan(1000)
      if (chance() < 0.5 && quota.claim('a') === 'go') inFlight++
      else if (inFlight > 0) {
        inFlight--
        const success = chance() < 0.3
        quota.release('a', success)
        if (success) delivered++
      }
      expect(delivered + inFlight).toBeLessThanOrEqual(10)
    }
    expect(quota.claim('a')).toBe('full')
  })
})

test('a host may have a limit of its own, and only limited hosts are counted', () => {
  const quota = new HostQuota(Number.POSITIVE_INFINITY, (host) => (host === 'a' ? 1 : undefined))
  expect([quota.isLimited, quota.limits('a'), quota.limits('b')]).toEqual([true, true, false])
  for (const host of ['a', 'b']) {
    expect(quota.claim(host)).toBe('go')
    quota.release(host, true)
  }
  expect([quota.claim('a'), quota.claim('b')]).toEqual(['full', 'go'])
  expect(quota.remove(() => true)).toEqual([['a', 1]])
  const higher = new HostQuota(1, (host) => (host === 'a' ? Number.POSITIVE_INFINITY : undefined))
  for (const host of ['a', 'b']) {
    expect(higher.claim(host)).toBe('go')
    higher.release(host, true)
  }
  expect([higher.isFull('a'), higher.isFull('b')]).toEqual([false, true])
})
