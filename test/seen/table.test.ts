import { describe, expect, it } from 'vitest'
import { seenStoreSuite } from '../../src/conformance/seen.js'
import { Slabs } from '../../src/seen/slabs.js'
import { FingerprintSet, fingerprintTable } from '../../src/seen/table.js'
import { type Random, seededRandom } from '../../src/time.js'
import { cpuMs } from '../cpu-time.js'

describe('fingerprintTable', () => {
  seenStoreSuite({ it, create: fingerprintTable })

  it('answers without a promise', () => {
    expect(fingerprintTable().addAll(['https://example.com/'])).toEqual([true])
  })

  const wrong: [string, unknown][] = [
    ['a number', [1]],
    ['undefined', ['https://example.com/', undefined]],
    ['a URL object', [new URL('https://example.com/')]],
    ['a hole', Array(1)],
    ['no array', 'https://example.com/'],
    ['a set', new Set(['https://example.com/'])],
    ['nothing', undefined],
  ]
  it.for(wrong)('refuses %s, and adds nothing', ([, urls]) => {
    const seen = fingerprintTable()
    expect(() => seen.addAll(urls as string[])).toThrow(
      expect.objectContaining({ name: 'KumoError', code: 'KUMO_CONTRACT_BROKEN' }),
    )
    expect(seen.size).toBe(0)
  })

  it('takes lone surrogates and characters beyond the BMP as they are', () => {
    const texts = ['\ud83d', '\udd77', '\ud83d\udd77', '\udd77\ud83d', '\ufffd', '🕸']
    expect(fingerprintTable().addAll(texts)).toEqual(texts.map(() => true))
  })

  it('refuses to add after close, and still tells its size', () => {
    const seen = fingerprintTable()
    seen.addAll(['https://example.com/'])
    seen.close()
    expect(() => seen.addAll([])).toThrow(
      expect.objectContaining({
        name: 'KumoError',
        code: 'KUMO_STORE_FAILED',
        message: expect.stringContaining('closed'),
      }),
    )
    expect(seen.size).toBe(1)
  })
})

/** Hands a set fingerprints of our choice. */
function adder(set: FingerprintSet) {
  const print = new Uint32Array(2)
  return (low: number, high: number) => {
    print[0] = low
    print[1] = high
    return set.add(print, 0)
  }
}

describe('FingerprintSet', () => {
  const half = [0, 1, 0x7fffffff, 0x80000000, 0xffffffff]

  it('keeps the edges of the range apart, zero included', () => {
    const set = new FingerprintSet()
    const add = adder(set)
    for (const expected of [true, false]) {
      for (const low of half) for (const high of half) expect(add(low, high), `${low} ${high}`).toBe(expected)
    }
    expect(set.size).toBe(half.length ** 2)
  })

  it('agrees with a plain set while it grows', () => {
    const set = new FingerprintSet()
    const add = adder(set)
    const plain = new Set<number>()
    const random = seededRandom(3)
    const wrong: number[] = []
    for (let i = 0; i < 600_000; i++) {
      // Half a million values, so that many come twice.
      const value = Math.floor(random.next() * 500_000)
      const fresh = add(Math.imul(value, 0x9e3779b1) >>> 0, Math.imul(value, 0x85ebca6b) >>> 0)
      if (fresh === plain.has(value)) wrong.push(value)
      plain.add(value)
    }
    expect(wrong).toEqual([])
    expect(set.size).toBe(plain.size)
  })

  it('holds fingerprints that all want the same slot, at the end of their segment', () => {
    const set = new FingerprintSet()
    const add = adder(set)
    const count = 3000
    for (const expected of [true, false]) {
      for (let i = 0; i < count; i++) expect(add(0xffffffff, i)).toBe(expected)
    }
    expect(set.size).toBe(count)
  })

  const crowds: [string, (random: Random) => [low: number, high: number]][] = [
    ['spread over all segments', (random) => [random.next() * 2 ** 32, random.next() * 2 ** 32]],
    // A few dozen values want the same few slots, at the end of their segment, and are pushed on to its start.
    [
      'crowded at the end of a segment',
      (random) => [0xffffffff - Math.floor(random.next() * 3), random.next() * 90],
    ],
    ['crowded at its start, zero among them', (random) => [random.next() * 3, random.next() * 90]],
    ['in one segment that grows', (random) => [Math.floor(random.next() * 4000) * 1_000_003, 0x7f000000]],
  ]
  it.for(crowds)('agrees with a plain set while fingerprints come and go: %s', ([, draw]) => {
    const set = new FingerprintSet()
    const plain = new Set<string>()
    const random = seededRandom(6)
    const met: [number, number][] = []
    const print = new Uint32Array(2)
    const wrong: string[] = []
    for (let i = 0; i < 60_000; i++) {
      // Half of what is asked about was met before.
      const isOld = met.length > 0 && random.next() < 0.5
      print.set(isOld ? met[Math.floor(random.next() * met.length)]! : draw(random))
      if (!isOld && met.length < 5000) met.push([print[0]!, print[1]!])
      const name = `${print[0]} ${print[1]}`
      const what = random.next()
      const [told, expected] =
        what < 0.4
          ? [set.add(print, 0), !plain.has(name)]
          : what < 0.8
            ? [set.delete(print, 0), plain.has(name)]
            : [set.has(print, 0), plain.has(name)]
      if (what < 0.4) plain.add(name)
      else if (what < 0.8) plain.delete(name)
      if (told !== expected || set.size !== plain.size) wrong.push(`${i}: ${name}`)
    }
    expect(wrong).toEqual([])
    for (const name of plain) {
      print.set(name.split(' ').map(Number))
      expect(set.delete(print, 0), name).toBe(true)
    }
    expect(set.size).toBe(0)
  })

  it.for([1, 16, 256])('agrees with a plain set with %i segments', (segments) => {
    const set = new FingerprintSet(new Slabs(), segments)
    const add = adder(set)
    const plain = new Set<number>()
    const random = seededRandom(7)
    for (let i = 0; i < 30_000; i++) {
      const value = Math.floor(random.next() * 20_000)
      const fresh = add(Math.imul(value, 0x9e3779b1) >>> 0, Math.imul(value, 0x85ebca6b) >>> 0)
      if (fresh === plain.has(value)) expect.unreachable(`${value} is wrong`)
      plain.add(value)
    }
    expect([set.size, set.segments]).toEqual([plain.size, segments])
  })

  it('lists all its fingerprints, zero included', () => {
    const set = new FingerprintSet()
    const add = adder(set)
    const random = seededRandom(8)
    const expected = new Set(['0 0'])
    add(0, 0)
    for (let i = 0; i < 5000; i++) {
      const [low, high] = [Math.floor(random.next() * 2 ** 32), Math.floor(random.next() * 2 ** 32)]
      add(low, high)
      expected.add(`${low} ${high}`)
    }
    const listed = set.toArray()
    const names = new Set<string>()
    for (let i = 0; i < listed.length; i += 2) names.add(`${listed[i]} ${listed[i + 1]}`)
    expect(listed.length).toBe(2 * set.size)
    expect(names).toEqual(expected)
    expect(new FingerprintSet().toArray()).toHaveLength(0)
  })

  // Listed in the order of their homes, they would all crowd at the front of a set that grows with them.
  it.for([1, 256])('takes in another set of 200,000 in a moment, into %i segments', (segments) => {
    const [one, other] = [new FingerprintSet(), new FingerprintSet(new Slabs(), segments)]
    const add = adder(one)
    const random = seededRandom(9)
    while (one.size < 200_000) add(random.next() * 2 ** 32, random.next() * 2 ** 32)
    adder(other)(1, 2)
    const before = cpuMs()
    one.addTo(other)
    expect(cpuMs() - before).toBeLessThan(10_000)
    expect(other.size).toBe(one.size + 1)
    const prints = one.toArray()
    for (let at = 0; at < prints.length; at += 2) if (!other.has(prints, at)) expect.unreachable(`${at}`)
    expect(other.bytes / other.size).toBeLessThan(16)
  })

  it('shares memory with others, and leaves them alone', () => {
    const memory = new Slabs()
    const sets = Array.from({ length: 100 }, () => new FingerprintSet(memory, 1))
    const random = seededRandom(10)
    const draw = () => [Math.floor(random.next() * 2 ** 32), Math.floor(random.next() * 2 ** 32)] as const
    const met = sets.map((set) =>
      Array.from({ length: 300 }, draw).filter(([low, high]) => adder(set)(low, high)),
    )
    for (let round = 0; round < 3; round++) {
      // Every other one goes, and comes again in pages that were used before.
      for (let i = round % 2; i < sets.length; i += 2) {
        sets[i]!.clear()
        const add = adder(sets[i]!)
        met[i] = Array.from({ length: 100 + 200 * round }, draw).filter(([low, high]) => add(low, high))
      }
    }
    for (const [i, set] of sets.entries()) {
      expect(set.size).toBe(met[i]!.length)
      for (const [low, high] of met[i]!) if (adder(set)(low, high)) expect.unreachable(`${i} lost one`)
    }
    expect(memory.bytes).toBeLessThan(1_000_000)
    for (const set of sets) set.clear()
    expect(memory.bytes).toBe(0)
  })

  it('is small when empty, and gives its memory back', () => {
    const set = new FingerprintSet()
    const add = adder(set)
    const random = seededRandom(4)
    const addMany = (count: number) => {
      for (let i = 0; i < count; i++) add(random.next() * 2 ** 32, random.next() * 2 ** 32)
    }
    expect(set.bytes).toBeLessThan(4096)
    addMany(1000)
    expect(set.bytes).toBeLessThan(400_000)
    addMany(100_000)
    set.clear()
    expect(set.bytes).toBeLessThan(4096)
    expect(set.size).toBe(0)
    expect([add(0, 0), add(5, 5), add(5, 5)]).toEqual([true, true, false])
  })

  it('takes at most 16 bytes a fingerprint at every size from 200,000 on', () => {
    const set = new FingerprintSet()
    const add = adder(set)
    const random = seededRandom(5)
    let most = 0
    for (let size = 1; size <= 2_500_000; size++) {
      add(random.next() * 2 ** 32, random.next() * 2 ** 32)
      if (size >= 200_000 && size % 1000 === 0) most = Math.max(most, set.bytes / set.size)
    }
    expect(most).toBeLessThan(13)
  })
})
