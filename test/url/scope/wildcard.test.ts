import { expect, it } from 'vitest'
import { seededRandom } from '../../../src/time.js'
import { compileWildcard } from '../../../src/url/scope/wildcard.js'

/** The same language as a regular expression: correct, though slow on hostile texts. */
function asRegExp(pattern: string): RegExp {
  const question = pattern.indexOf('?')
  const source = pattern.replace(/\*+|\?/g, (found, at: number) => {
    if (found === '?') return '\\?'
    if (question >= 0 && at > question) return '.*'
    return found.length > 1 ? '[^?]*' : '[^/?]*'
  })
  return new RegExp(`^${source}$`)
}

it('answers as a regular expression does, for made-up patterns and texts', () => {
  const random = seededRandom(7)
  const madeUp = (letters: string, most: number) => {
    let text = ''
    for (let left = Math.floor(random.next() * most); left > 0; left--) {
      text += letters[Math.floor(random.next() * letters.length)]
    }
    return text
  }
  let fits = 0
  for (let round = 0; round < 4000; round++) {
    const pattern = madeUp('ab/***?', 10)
    const matches = compileWildcard(pattern)
    const expression = asRegExp(pattern)
    for (let texts = 0; texts < 20; texts++) {
      const text = madeUp('aabb//?', 9)
      const answer = matches(text)
      if (answer !== expression.test(text)) expect.fail(`${pattern} on ${text} says ${answer}`)
      if (answer) fits++
    }
  }
  expect(fits).toBeGreaterThan(2000)
})

it('carries its states over the borders of machine words', () => {
  for (let length = 28; length < 100; length++) {
    const letters = 'abcdefg'.repeat(15).slice(0, length)
    const matches = compileWildcard(`*${letters}*`)
    expect(matches(`x${letters}y`), String(length)).toBe(true)
    expect(matches(`x${letters.slice(0, -1)}!y`), String(length)).toBe(false)
  }
})
