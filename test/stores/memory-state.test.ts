import { describe, expect, it } from 'vitest'
import { stateSuite } from '../../src/conformance/state.js'
import { forgetful, memoryState } from '../../src/stores/memory-state.js'

describe('memoryState', () => {
  stateSuite({ it, create: memoryState })

  it('answers without a promise', () => {
    const space = memoryState().space('a')
    space.put('key', 1)
    expect(space.get('key')).toBe(1)
  })
})

describe('forgetful', () => {
  it('takes everything and knows nothing', async () => {
    const space = forgetful.space('a')
    space.put('key', 1, 'a.example')
    space.delete('other')
    expect(space.get('key', 'a.example')).toBeUndefined()
    for await (const fact of space.entries()) expect(fact).toBe('never')
  })
})
