import { describe, expect, it } from 'vitest'
import { stateSuite } from '../../src/conformance/state.js'
import { forgetful, memoryState, movableState } from '../../src/stores/memory-state.js'

describe('memoryState', () => {
  stateSuite({ it, create: memoryState })

  it('answers without a promise', () => {
    const space = memoryState().space('a')
    space.put('key', 1)
    expect(space.get('key')).toBe(1)
  })
})

describe('movableState', () => {
  stateSuite({ it, create: movableState })

  it('gives facts of hosts that leave, and takes them', () => {
    const [from, to] = [movableState(), movableState()]
    from.space('a').put('key', { deep: [1] }, 'leaves.example')
    from.space('b').put('key', 2, 'leaves.example')
    from.space('a').put('key', 3, 'stays.example')
    from.space('a').put('key', 4)
    to.space('a').put('other', 5, 'leaves.example')
    const moved = structuredClone(from.release((host) => host.startsWith('leaves')))
    expect(moved).toHaveLength(2)
    to.adopt(moved)
    const facts = ({ space }: typeof from) => [
      space('a').get('key', 'leaves.example'),
      space('b').get('key', 'leaves.example'),
      space('a').get('key', 'stays.example'),
      space('a').get('key'),
      space('a').get('other', 'leaves.example'),
    ]
    expect(facts(from)).toEqual([undefined, undefined, 3, 4, undefined])
    expect(facts(to)).toEqual([{ deep: [1] }, 2, undefined, undefined, 5])
    expect(from.release(() => true)).toEqual([['a', 'stays.example', 'key', '3']])
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
