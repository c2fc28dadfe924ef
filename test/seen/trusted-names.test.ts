import { describe, expect, it } from 'vitest'
import { TrustedNames } from '../../src/seen/trusted-names.js'
import type { StateSpace } from '../../src/stores/contract.js'
import { memoryState, movableState } from '../../src/stores/memory-state.js'

/** Answers later, as a store on disk does. */
function slow(space: StateSpace): StateSpace {
  return {
    get: async (key, host) => space.get(key, host),
    put: (key, value, host) => space.put(key, value, host),
    delete: (key, host) => space.delete(key, host),
    entries: () => space.entries(),
  }
}

describe('the first addresses of a host', () => {
  it.each([
    ['at once', (space: StateSpace) => space],
    ['later', slow],
  ])('decide for ever, also in the next run, with a store that answers %s', async (_, how) => {
    const state = memoryState()
    const hosts = new TrustedNames(how(state.space('addresses')))
    expect(await hosts.wasPrivate('inside.test', true)).toBe(true)
    expect(await hosts.wasPrivate('inside.test', false)).toBe(true)
    expect(await hosts.wasPrivate('outside.test:81', false)).toBe(false)
    expect(await hosts.wasPrivate('outside.test:81', true)).toBe(false)
    const later = new TrustedNames(how(state.space('addresses')))
    expect(await later.wasPrivate('inside.test', false)).toBe(true)
    expect(await later.wasPrivate('outside.test:81', true)).toBe(false)
    expect(await later.wasPrivate('outside.test', true)).toBe(true)
  })

  it('are those of one connection, however many ask at once', async () => {
    const hosts = new TrustedNames(slow(memoryState().space('addresses')))
    const asked = [false, true, true].map((isPrivate) => hosts.wasPrivate('a.test', isPrivate))
    expect(await Promise.all(asked)).toEqual([false, false, false])
  })

  it('go to another worker with their host', async () => {
    const [here, there] = [movableState(), movableState()]
    await new TrustedNames(here.space('addresses')).wasPrivate('a.test', false)
    there.adopt(here.release((host) => host === 'a.test'))
    expect(await new TrustedNames(there.space('addresses')).wasPrivate('a.test', true)).toBe(false)
  })
})
