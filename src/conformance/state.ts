/** Proves a `StateStore`: small facts by name. */

import assert from 'node:assert/strict'
import type { StateSpace, StateStore } from '../stores/contract.js'
import { casesOf, type RegisterCase, type SuiteOptions } from './suite.js'

/** Values that JSON can hold and a careless encoding loses. */
const VALUES: readonly unknown[] = [
  'text',
  '',
  'line\nbreak, quote " and \0',
  '蜘蛛 🕷',
  'long '.repeat(20_000),
  0,
  -1.5,
  1e21,
  Number.MAX_SAFE_INTEGER,
  true,
  false,
  null,
  [],
  {},
  [1, [2, [null, 'x']]],
  { a: { b: [{ c: 1 }] }, 'odd key': '', constructor: 1 },
]

/** Names that a careless key mistakes for one another, or for something else. */
const ODD_NAMES = [
  'a',
  'A',
  ' a',
  'a ',
  'a/b',
  'a:b',
  'a b',
  'a!b',
  'a,b',
  '',
  '.',
  '..',
  '*',
  '%00',
  '\n',
  '\x7f',
  '\u0080',
  '\uffff',
  '蜘蛛',
  '🕷',
  '0',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  'x'.repeat(2000),
]

/** Keys may contain characters that names may not. */
const ODD_KEYS = [...ODD_NAMES, '\0', 'a\0', '\0a', 'a\0b', 'a.example\0a']

const HOSTS = ['a.example', 'b.example', 'a.example:8080']
const MANY = 1000

/**
 * Registers the cases that every store of facts must pass.
 *
 * @example
 * import { it } from 'node:test'
 * import { stateSuite } from 'kumo/conformance'
 *
 * stateSuite({ it, create: () => new MyStateStore() })
 */
export function stateSuite(options: SuiteOptions<StateStore>): void {
  stateCases(casesOf(options))
}

/** The same cases, for suites that need more around a case than a store of facts. */
export function stateCases(check: RegisterCase<StateStore>): void {
  check('an empty store has no facts', async (state) => {
    const space = state.space('empty')
    assert.equal(await space.get('a'), undefined)
    assert.equal(await space.get('a', 'a.example'), undefined)
    space.delete('a')
    space.delete('a', 'a.example')
    assert.equal(await space.get('a'), undefined)
    assert.deepEqual(await factsOf(space), [])
  })

  check('a fact can be read at once, until it is replaced or deleted', async (state) => {
    const space = state.space('facts')
    space.put('a', 1)
    assert.equal(await space.get('a'), 1)
    space.put('a', 'two')
    space.put('b', 3)
    assert.equal(await space.get('a'), 'two')
    assert.deepEqual(await factsOf(space), [
      ['a', 'two'],
      ['b', 3],
    ])
    space.delete('a')
    assert.equal(await space.get('a'), undefined)
    assert.deepEqual(await factsOf(space), [['b', 3]])
    space.put('a', 4)
    assert.equal(await space.get('a'), 4)
  })

  check('a value is returned as it was stored', async (state) => {
    const space = state.space('values')
    for (const [i, value] of VALUES.entries()) space.put(String(i), value)
    for (const [i, value] of VALUES.entries()) assert.deepEqual(await space.get(String(i)), value)
    const listed = new Map(await factsOf(space))
    for (const [i, value] of VALUES.entries()) assert.deepEqual(listed.get(String(i)), value)
  })

  check('undefined is stored as in JSON', async (state) => {
    const space = state.space('undefined')
    space.put('alone', undefined)
    space.put('within', { a: undefined, b: [undefined] })
    assert.equal(await space.get('alone'), null)
    assert.deepEqual(await space.get('within'), { b: [null] })
    assert.equal((await factsOf(space)).length, 2)
  })

  check('values are copied when stored and when returned', async (state) => {
    const space = state.space('copies')
    const given = { list: [1] }
    space.put('a', given)
    given.list.push(2)
    const got = (await space.get('a')) as typeof given
    assert.deepEqual(got, { list: [1] })
    got.list.push(3)
    assert.deepEqual(await space.get('a'), { list: [1] })
    const [[, listed]] = (await factsOf(space)) as [[string, typeof given]]
    listed.list.push(4)
    assert.deepEqual(await space.get('a'), { list: [1] })
  })

  check('spaces are separate, and a name always means the same space', async (state) => {
    for (const name of ODD_NAMES) state.space(name).put('key', name)
    for (const name of ODD_NAMES) {
      assert.equal(await state.space(name).get('key'), name, `the space ${JSON.stringify(name)}`)
      assert.deepEqual(await factsOf(state.space(name)), [['key', name]], `${JSON.stringify(name)}, listed`)
    }
    state.space('a').delete('key')
    assert.equal(await state.space('a').get('key'), undefined)
    assert.equal(await state.space('A').get('key'), 'A')
  })

  check('names and keys are not mixed up', async (state) => {
    const split = [1, 2, 3, 4].map((at) => ['a:b:c:d'.slice(0, at), 'a:b:c:d'.slice(at)] as const)
    for (const [name, key] of split) state.space(name).put(key, name)
    for (const [name, key] of split) assert.deepEqual(await factsOf(state.space(name)), [[key, name]])
  })

  check('keys may contain any character', async (state) => {
    const space = state.space('keys')
    for (const key of ODD_KEYS) space.put(key, key)
    for (const key of ODD_KEYS) assert.equal(await space.get(key), key, `the key ${JSON.stringify(key)}`)
    assert.deepEqual(
      await factsOf(space),
      ODD_KEYS.map((key) => [key, key] as const).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    )
    for (const key of ODD_KEYS) space.delete(key)
    assert.deepEqual(await factsOf(space), [])
  })

  check('facts of different hosts are separate', async (state) => {
    const space = state.space('hosts')
    const places = [undefined, ...HOSTS]
    for (const key of ODD_KEYS) {
      for (const host of places) space.put(key, [key, host ?? null], host)
    }
    for (const key of ODD_KEYS) {
      for (const host of places) {
        const message = `${JSON.stringify(key)} of ${host}`
        assert.deepEqual(await space.get(key, host), [key, host ?? null], message)
      }
    }
    const listed = await factsOf(space)
    assert.equal(listed.length, ODD_KEYS.length * places.length)
    for (const [key, value] of listed) assert.equal((value as unknown[])[0], key, 'listed under another key')
    for (const key of ODD_KEYS) space.delete(key, 'a.example')
    for (const key of ODD_KEYS) {
      assert.equal(await space.get(key, 'a.example'), undefined)
      assert.deepEqual(await space.get(key, 'b.example'), [key, 'b.example'])
      assert.deepEqual(await space.get(key), [key, null])
    }
    assert.equal((await factsOf(space)).length, ODD_KEYS.length * (places.length - 1))
  })

  check('entries() lists all facts, even if there are many', async (state) => {
    const space = state.space('many')
    const hostOf = (i: number) => (i % 3 === 0 ? undefined : `h${i % 50}.example`)
    for (let i = 0; i < MANY; i++) space.put(`key ${i}`, i, hostOf(i))
    for (let i = 0; i < MANY; i += 2) space.delete(`key ${i}`, hostOf(i))
    const values = (await factsOf(space)).map(([, value]) => value as number)
    assert.deepEqual(
      values.toSorted((a, b) => a - b),
      Array.from({ length: MANY / 2 }, (_, i) => 2 * i + 1),
    )
  })

  check('facts may change during entries()', async (state) => {
    const space = state.space('changing')
    for (let i = 0; i < 20; i++) space.put(`old ${i}`, i)
    const met: string[] = []
    for await (const [key] of space.entries()) {
      met.push(key)
      if (met.length > MANY) assert.fail('entries() does not end if facts are added meanwhile')
      space.put(`put ${met.length}`, true)
      space.delete(key)
    }
    assert.equal(new Set(met).size, met.length, 'a fact was listed twice')
    const old = met.filter((key) => key.startsWith('old'))
    assert.equal(old.length, 20, 'facts that existed from the beginning')
  })
}

/** All facts, sorted by key. */
async function factsOf(space: StateSpace): Promise<(readonly [key: string, value: unknown])[]> {
  const facts: (readonly [string, unknown])[] = []
  for await (const fact of space.entries()) facts.push(fact)
  return facts.sort(([a], [b]) => (a < b ? -1 : Number(a > b)))
}
