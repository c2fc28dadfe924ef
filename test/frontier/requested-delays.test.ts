import { describe, expect, it } from 'vitest'
import { RequestedDelays } from '../../src/frontier/requested-delays.js'

describe('AskedPauses', () => {
  it('remembers until it is told to forget', () => {
    const asked = new RequestedDelays()
    expect(asked.of('a')).toBe(0)
    asked.remember('a', 500)
    asked.remember('a', 700)
    expect(asked.of('a')).toBe(700)
    asked.forget('a')
    expect(asked.of('a')).toBe(0)
  })

  it('of very many remembers the last', () => {
    const asked = new RequestedDelays()
    for (let i = 0; i < 100_010; i++) asked.remember(`h${i}`, i)
    expect([asked.of('h9'), asked.of('h10'), asked.of('h100009')]).toEqual([0, 10, 100_009])
  })

  it('lists what leaves, and forgets it', () => {
    const asked = new RequestedDelays()
    for (const name of ['a1', 'b1', 'a2']) asked.remember(name, 100)
    const expected = [
      ['a1', 100],
      ['a2', 100],
    ]
    expect(asked.removeWhere((host) => host.startsWith('a'))).toEqual(expected)
    expect([asked.of('a1'), asked.of('b1')]).toEqual([0, 100])
  })
})
