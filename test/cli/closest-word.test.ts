import { expect, test } from 'vitest'
import { closestWord } from '../../src/cli/closest-word.js'

const WORDS = ['concurrency', 'crawl', 'depth', 'limit', 'limit-time', 'q']

test.each<[given: string, meant: string | undefined]>([
  ['concurency', 'concurrency'],
  ['concurrencey', 'concurrency'],
  ['crwal', 'crawl'],
  ['limits', 'limit'],
  ['limit-tiem', 'limit-time'],
  ['detph', 'depth'],
  ['colour', undefined],
  ['', undefined],
  ['x', undefined],
])('%j was meant as %j', (given, meant) => {
  expect(closestWord(given, WORDS)).toBe(meant)
})
