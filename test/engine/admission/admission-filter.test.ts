import { expect, test } from 'vitest'
import { isNofollow, leadsToPage } from '../../../src/engine/admission/admission-filter.js'

test.each<[string, string | undefined, boolean, boolean]>([
  ['a', undefined, true, true],
  ['a', 'stylesheet', true, true],
  ['area', undefined, true, true],
  ['iframe', undefined, true, true],
  ['meta-refresh', undefined, true, true],
  ['link', undefined, false, false],
  ['link', 'stylesheet', false, false],
  ['link', 'shortcut icon', false, false],
  ['link', 'preload', false, false],
  ['link', 'next', true, true],
  ['link', 'PREV', true, true],
  ['link', 'alternate', true, true],
  ['link', 'canonical', false, true],
  ['link', 'Canonical nofollow', false, true],
])('<%s rel=%j> leads to a page: %s, with canonical followed: %s', (tag, rel, plain, canonical) => {
  const link = { href: '/x', tag, rel }
  expect([leadsToPage(link, false), leadsToPage(link, true)]).toEqual([plain, canonical])
})

test.each([
  ['nofollow', true],
  ['external NoFollow', true],
  ['ugc\tnofollow\nsponsored', true],
  ['nofollower', false],
  ['no follow', false],
  ['', false],
])('rel=%j asks not to be followed: %s', (rel, asks) => {
  expect(isNofollow(rel)).toBe(asks)
})
