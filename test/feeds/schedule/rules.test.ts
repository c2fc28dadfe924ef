import { describe, expect, test } from 'vitest'
import type { PollOptions } from '../../../src/feeds/schedule/contract.js'
import { pollRules } from '../../../src/feeds/schedule/rules.js'

const DAY = 86_400_000

describe('rules', () => {
  test.each<[PollOptions, object]>([
    [{}, { budgetPerDay: undefined, lost: 0.01, minMs: 900_000, maxMs: 30 * DAY, aim: 'complete' }],
    [{ budget: '2000/day' }, { budgetPerDay: 2000, lost: undefined }],
    [{ budget: '10 / minute' }, { budgetPerDay: 14_400 }],
    [{ budget: '0.5/h' }, { budgetPerDay: 12 }],
    [{ lost: '0.5%' }, { lost: 0.005, budgetPerDay: undefined }],
    [
      { lost: 0.2, aim: 'fresh' },
      { lost: 0.2, aim: 'fresh' },
    ],
    [{ min: '40d' }, { minMs: 40 * DAY, maxMs: 40 * DAY }],
    [{ max: '5m' }, { minMs: 300_000, maxMs: 300_000 }],
  ])('%j', (options, rules) => {
    expect(pollRules(options)).toMatchObject(rules)
  })

  test.each<[string, unknown, RegExp]>([
    ['a budget without a time', { budget: '2000' }, /feeds\.budget: got '2000'/],
    ['a budget of nothing', { budget: '0/day' }, /feeds\.budget/],
    ['an unknown time', { budget: '5/fortnight' }, /feeds\.budget/],
    ['both', { budget: '5/day', lost: '1%' }, /feeds\.lost: .*one of both/],
    ['a share of all', { lost: 1 }, /feeds\.lost/],
    ['a share that is no number', { lost: 'few' }, /feeds\.lost: got 'few'/],
    ['an interval of 0', { min: 0 }, /feeds\.min/],
    ['an interval that is no duration', { max: 'long' }, /feeds\.max/],
    ['bounds the wrong way round', { min: '2d', max: '1d' }, /feeds\.min: .*at most feeds\.max/],
    ['an unknown aim', { aim: 'perfect' }, /feeds\.aim: got 'perfect'/],
  ])('%s is refused', (_, options, message) => {
    expect(() => pollRules(options as PollOptions)).toThrow(message)
  })
})
