/** Matching against a plain reference, and against files and paths that were made to be slow. */

import { describe, expect, it } from 'vitest'
import { canonicalPattern, groupFor, groupText } from '../../../src/fetch/robots/group.js'
import { Rules } from '../../../src/fetch/robots/rules.js'
import { seededRandom } from '../../../src/time.js'
import { cpuMs } from '../../cpu-time.js'

const random = seededRandom(9309)
const below = (n: number) => Math.floor(random.next() * n)
const word = (letters: string, length: number) =>
  Array.from({ length }, () => letters[below(letters.length)]).join('')

/** Every way at once: the places of the path that the pattern can have reached. */
function matches(pattern: string, path: string): boolean {
  const isAnchored = pattern.endsWith('$')
  let reached = new Set([0])
  for (const letter of isAnchored ? pattern.slice(0, -1) : pattern) {
    const next = new Set<number>()
    for (const at of reached) {
      if (letter === '*') for (let i = at; i <= path.length; i++) next.add(i)
      else if (path[at] === letter) next.add(at + 1)
    }
    reached = next
  }
  return isAnchored ? reached.has(path.length) : reached.size > 0
}

/** As the standard says it: of the rules that match the longest decides, and where two are as long, the one that allows. */
function expected(rules: ReadonlyMap<string, boolean>, path: string): boolean {
  let longest = -1
  let allowed = true
  for (const [pattern, allows] of rules) {
    if (pattern.length < longest || !matches(pattern, path)) continue
    allowed = allows || (pattern.length === longest && allowed)
    longest = pattern.length
  }
  return allowed
}

describe('rules', () => {
  it.each([
    ['/a', '/a/b', true],
    ['/a$', '/a', true],
    ['/a$', '/a$', false],
    ['/a$b', '/a$b', true],
    ['/a*$', '/ab', true],
    ['/*$', '/', true],
    ['/**b', '/ab', true],
    ['*', '/', true],
    ['a', '/a', false],
    ['*a', '/a', true],
    ['/*ab*ab$', '/ab', false],
    ['/*ab*ab$', '/abab', true],
    ['/*a*ba$', '/aba', true],
    ['/*aba*aba', '/ababa', false],
    ['/*abcdefgh*x', '/abcdefg/abcdefgh/x', true],
    ['/*abcdefghi', '/abcdefgh', false],
    ['/*.php', '/a.php?b', true],
    ['/?', '/?', true],
    ['/*ツ', '/ツ', true],
  ])('%s fits %s: %s', (pattern, path, fits) => {
    expect(new Rules(new Map([[pattern, false]])).allows(path)).toBe(!fits)
    expect(matches(pattern, path)).toBe(fits)
  })

  it('decide as the standard says, whatever they are made of', () => {
    let denied = 0
    for (let round = 0; round < 4000; round++) {
      const letters = ['ab', 'abc/', 'ab*', 'a*$', 'abcdefgh*'][below(5)]!
      const rules = new Map<string, boolean>()
      for (let i = below(12); i >= 0; i--) {
        const pattern = `${below(4) > 0 ? '/' : '*'}${word(letters, below(20))}${below(4) > 0 ? '' : '$'}`
        rules.set(pattern, below(2) > 0)
      }
      const compiled = new Rules(rules)
      for (let i = 0; i < 5; i++) {
        const path = `/${word(letters.replace('*', '').replace('$', 'b'), below(60))}`
        const allowed = expected(rules, path)
        if (!allowed) denied++
        expect([...rules, path, compiled.allows(path)]).toEqual([...rules, path, allowed])
      }
    }
    expect(denied).toBeGreaterThan(3000)
  })

  it('of one question do not leak into the next', () => {
    const rules = new Rules(new Map([['/*needle', false]]))
    expect(['/needle', '/', '/a/needle', '/needl', '/needle'].map((path) => rules.allows(path))).toEqual([
      false,
      true,
      false,
      true,
      false,
    ])
  })
})

describe('a hostile file', () => {
  const two = [word('ab', 8), word('ab', 8)]
  const some = (count: number) => Array.from({ length: count }, () => two[below(2)]).join('')
  const runs = Array.from({ length: 150 }, () => `${'b'.repeat(8)}a${word('ab', 3)}a`).join('')
  const az = 'abcdefghijklmnopqrstuvwxyz'
  // No rule fits its path, so that all of them have to be tried, and giving up would show.
  const shapes: [name: string, pattern: () => string, path: string][] = [
    [
      'a star before every letter',
      () => `/${word('abcdefgh', 6).replace(/./g, '*$&')}*z`,
      word('abcdefgh', 2000),
    ],
    ['many stars', () => `/${'*a'.repeat(3 + below(40))}*b*${word('cdefgh', 3)}`, `${'a'.repeat(1990)}b`],
    ['thousands of stars', () => `/${'*a'.repeat(3 + below(900))}*b*b*`, `${'a'.repeat(1990)}b`],
    ['as many rules as fit', () => `*${word(az, 4)}0`, word(az, 2000)],
    ['two letters', () => `*${word('ab', 6)}*${word('ab', 7)}*bbbbbbbbb`, runs],
    [
      'short pieces',
      () => `*${word('ab', 3)}*${word('ab', 7)}*bbbb`,
      word('ab', 2000).replaceAll('bbbb', 'abba'),
    ],
    ['two words', () => `*${some(4)}*${some(3)}c`, some(250)],
    [
      'repetition',
      () => `*${'a'.repeat(20 + below(280))}b${'a'.repeat(320)}`,
      `${'a'.repeat(319)}b`.repeat(6),
    ],
    ['no wildcards', () => `/${word(az, 12)}0`, word(az, 2000)],
  ]

  it.each(shapes)(
    'of 500 KiB against a path of 2 kB takes at most 20 ms a question: %s',
    (name, pattern, tail) => {
      const lines = ['User-agent: *']
      for (let size = 0; size < 499 * 1024; size += lines.at(-1)!.length + 1)
        lines.push(`Disallow: ${pattern()}`)
      const { rules } = groupFor(lines.join('\n'), 'kumo', canonicalPattern)
      // The shortest of several, because others use this machine too.
      let fastest = Number.POSITIVE_INFINITY
      for (let i = 0; i < 10; i++) {
        const before = cpuMs()
        expect(rules.allows(`/${tail}`)).toBe(true)
        fastest = Math.min(fastest, cpuMs() - before)
      }
      console.log(`robots: ${name}: ${rules.size} rules, ${fastest.toFixed(2)} ms a question`)
      expect(fastest).toBeLessThan(20)
    },
  )

  it('gets no for an answer when even that is not enough', () => {
    const rules = new Map<string, boolean>([['/', true]])
    for (let i = 0; i < 20_000; i++)
      rules.set(`/*${word('ab', 14)}*${word('ab', 14)}*${word('ab', 14)}c`, false)
    const path = `/${word('ab', 60_000)}`
    const compiled = new Rules(rules)
    const before = cpuMs()
    expect(compiled.allows(path)).toBe(false)
    expect(cpuMs() - before).toBeLessThan(10_000)
    expect(compiled.allows('/ab')).toBe(true)
  })

  it('with a path beyond all measure is not searched, but compared', () => {
    const path = `/${'a'.repeat(1_000_000)}`
    expect(new Rules(new Map([['/b', false]])).allows(path)).toBe(true)
    expect(new Rules(new Map([['/a', false]])).allows(path)).toBe(false)
    expect(new Rules(new Map([['/*b', false]])).allows(path)).toBe(false)
  })
})

describe('the lines for one crawler', () => {
  it.each([
    ['nothing', '', ''],
    ['no rules at all', '<html>\n<a href="https://example.com">', ''],
    ['the group that names it', 'User-agent: a\nDisallow: /a\nUser-agent: Kumo\nDisallow: /b', '/b'],
    ['the group for all', 'User-agent: a\nDisallow: /a\nUser-agent: *\nDisallow: /b', '/b'],
    ['its own group, not that for all', 'User-agent: *\nDisallow: /a\nUser-agent: kumo\nDisallow: /b', '/b'],
    ['its own group before that for all', 'User-agent: kumo\nDisallow: /b\nUser-agent: *\nDisallow: /', '/b'],
    ['agent lines in a row', 'User-agent: a\nUser-agent: kumo\nUser-agent: *\nDisallow: /a', '/a'],
    ['agent lines with other lines between', 'User-agent: kumo\n\nx: y\nUser-agent: a\nDisallow: /a', '/a'],
    ['a delay between agent lines', 'User-agent: kumo\nCrawl-delay:\nUser-agent: a\nDisallow: /a', '/a'],
    [
      'two groups for it',
      'User-agent: kumo\nDisallow: /a\nUser-agent: b\nDisallow: /b\nUser-agent: kumo\nDisallow: /c',
      '/a /c',
    ],
    ['an empty group for it', 'User-agent: kumo\nDisallow:\nUser-agent: *\nDisallow: /', ''],
    ['a name at the end', 'User-agent: *\nDisallow: /\nUser-agent: kumo', ''],
    ['rules before any agent', 'Disallow: /a\nUser-agent: *\nDisallow: /b', '/b'],
    ['the same rule twice', 'User-agent: *\nDisallow: /b\nDisallow: /b', '/b'],
    ['all line ends', 'User-agent: *\rDisallow: /a\r\nDisallow: /b\n\rDisallow: /c', '/a /b /c'],
  ])('%s', (_, text, paths) => {
    const lines = paths === '' ? [] : paths.split(' ').map((path) => `disallow: ${path}\n`)
    const kept = groupText(groupFor(text, 'Kumo', canonicalPattern))
    expect(kept).toBe(lines.length === 0 ? '' : `user-agent: *\n${lines.join('')}`)
  })

  it('come in the order in which they decide', () => {
    const text =
      'User-agent: *\nDisallow: /a\nCrawl-delay: 2.5\nAllow: /b\nDisallow: /c$\nAllow: /d/index.html'
    expect(groupText(groupFor(text, 'kumo', canonicalPattern))).toBe(
      'user-agent: *\nallow: /d/index.html\nallow: /d/$\ndisallow: /c$\nallow: /b\ndisallow: /a\ncrawl-delay: 2.5\n',
    )
  })
})
