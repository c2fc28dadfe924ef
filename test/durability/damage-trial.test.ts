/** The judge of the damage trials notices what it is there to notice. */

import { expect, test } from 'vitest'
import { judge, type TrialAnswer } from './damage-trial.js'

const WHOLE = { before: new Set(['a', 'b']), rest: new Set(['c', 'd']) }
const ALREADY_DONE = { pages: [], events: [], reason: 'already-done' }
const REPAIRED = 'repaired: … Up to 1 pending URLs are missing, and up to 1 pages will be fetched again'
const CUT = 'repaired: the last 2 commits of the crawl are missing, as after a power failure'

const ended = (pages: string[], events: string[] = []): TrialAnswer => ({
  first: { pages, events, reason: 'done' },
  again: ALREADY_DONE,
})
const failed = (code: string | undefined): TrialAnswer => ({
  first: { pages: [], events: [], error: { ...(code && { code }), message: 'Unexpected token' } },
})

test.for([
  ['as without damage', ended(['c', 'd']), false, 'whole'],
  ['refused', failed('KUMO_STORE_DAMAGED'), false, 'refused'],
  ['repeated, and told', ended(['a', 'c', 'd'], [REPAIRED]), true, 'told'],
  ['missing, and told', ended(['c'], [REPAIRED]), true, 'told'],
  ['from an earlier moment, and told', ended(['a', 'b', 'c', 'd'], [CUT]), false, 'told'],
] as const)('%s', ([, answer, repairs, outcome]) => {
  expect(judge(answer, repairs, WHOLE)).toBe(outcome)
})

test.for([
  ['a raw error', failed(undefined), false, /raw error/],
  ['an error that says nothing', failed('KUMO_STORE_FAILED'), false, /raw error/],
  [
    'a raw error of inspect',
    { ...ended(['c', 'd']), looked: { message: 'x' } },
    false,
    /inspect: a raw error/,
  ],
  ['a refusal of repair', failed('KUMO_STORE_DAMAGED'), true, /repair did not help/],
  ['a page lost', ended(['c']), false, /lost without a word/],
  ['a page lost, though the end was told', ended(['c'], [CUT]), false, /lost without a word/],
  ['a page repeated', ended(['a', 'c', 'd']), true, /repeated without a word/],
  ['more repeated than told', ended(['a', 'b', 'c', 'd'], [REPAIRED]), true, /repeated without a word/],
  [
    'a run after it that finds more',
    { ...ended(['c', 'd']), again: { pages: ['a'], events: [], reason: 'done' } },
    true,
    /found something to do/,
  ],
] as const)('%s is noticed', ([, answer, repairs, message]) => {
  expect(() => judge(answer, repairs, WHOLE)).toThrow(message)
})
