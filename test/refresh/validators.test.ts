import { describe, expect, it } from 'vitest'
import type { PageRecord } from '../../src/refresh/contract.js'
import { checked, conditionOf, lastModifiedMs } from '../../src/refresh/validators.js'
import { seededRandom } from '../../src/time.js'

const MODIFIED = 'Sun, 06 Nov 1994 08:49:37 GMT'
const LATER = 'Mon, 07 Nov 1994 08:49:37 GMT'
const KNOWN: PageRecord = {
  at: 0,
  every: 1000,
  history: '',
  change: 1000,
  depth: 0,
  digest: 'd1',
  etag: '"1"',
  modified: MODIFIED,
}

describe('conditionOf', () => {
  const cases: [what: string, more: Partial<PageRecord>, chance: number, condition: object | undefined][] = [
    ['both', {}, 0.9, { etag: '"1"', modified: MODIFIED }],
    ['an ETag alone', { modified: undefined }, 0.9, { etag: '"1"' }],
    ['a date alone', { etag: undefined }, 0.9, { modified: MODIFIED }],
    ['nothing known', { etag: undefined, modified: undefined }, 0.9, undefined],
    ['empty headers', { etag: '', modified: '' }, 0.9, undefined],
    ['a liar', { trust: -1 }, 0.999, undefined],
    ['forgiven', { trust: 0 }, 0.9, { etag: '"1"', modified: MODIFIED }],
    ['time for a check', {}, 0.2, undefined],
    ['no time for a check of a proved server', { trust: 8 }, 0.2, { etag: '"1"', modified: MODIFIED }],
    ['time for a check of a proved server', { trust: 8 }, 0.01, undefined],
    ['no check without a digest', { digest: undefined }, 0, { etag: '"1"', modified: MODIFIED }],
  ]
  it.for(cases)('%s', ([, more, chance, condition]) => {
    expect(conditionOf({ ...KNOWN, ...more }, chance)).toEqual(condition)
  })

  it.for([
    [undefined, 1 / 4],
    [3, 1 / 4],
    [4, 1 / 16],
    [8, 1 / 16],
  ] as const)('checks a server of trust %o in a share %d of the visits', ([trust, share]) => {
    const random = seededRandom(7)
    let plain = 0
    for (let n = 0; n < 20_000; n++) {
      if (conditionOf({ ...KNOWN, trust }, random.next()) === undefined) plain++
    }
    // Five standard deviations of a binomial.
    const bound = 5 * Math.sqrt(20_000 * share * (1 - share))
    expect(Math.abs(plain - 20_000 * share)).toBeLessThan(bound)
  })
})

describe('checked', () => {
  type Case = [
    what: string,
    record: Partial<PageRecord>,
    sight: Parameters<typeof checked>[1],
    asked: 'conditional' | 'plain',
    change: 'changed' | 'unchanged',
    trust: 'same' | 'up' | 'lied',
  ]
  const cases: Case[] = [
    ['304', {}, { status: 304 }, 'conditional', 'unchanged', 'same'],
    ['304 with another ETag', {}, { status: 304, etag: '"2"' }, 'conditional', 'unchanged', 'same'],
    ['same digest and ETag', {}, { status: 200, digest: 'd1', etag: '"1"' }, 'plain', 'unchanged', 'up'],
    ['same, ETag weak now', {}, { status: 200, digest: 'd1', etag: 'W/"1"' }, 'plain', 'unchanged', 'up'],
    ['ETag of the time', {}, { status: 200, digest: 'd1', etag: '"2"' }, 'plain', 'unchanged', 'same'],
    ['ETag of the time', {}, { status: 200, digest: 'd1', etag: '"2"' }, 'conditional', 'unchanged', 'same'],
    ['an honest change', {}, { status: 200, digest: 'd2', etag: '"2"' }, 'conditional', 'changed', 'up'],
    ['an honest change', {}, { status: 200, digest: 'd2', etag: '"2"' }, 'plain', 'changed', 'up'],
    ['an ETag that lies', {}, { status: 200, digest: 'd2', etag: '"1"' }, 'plain', 'changed', 'lied'],
    ['a weak ETag that lies', {}, { status: 200, digest: 'd2', etag: 'W/"1"' }, 'plain', 'changed', 'lied'],
    [
      'a date that lies',
      { etag: undefined },
      { status: 200, digest: 'd2', modified: MODIFIED },
      'plain',
      'changed',
      'lied',
    ],
    [
      'an honest date',
      { etag: undefined },
      { status: 200, digest: 'd2', modified: LATER },
      'plain',
      'changed',
      'up',
    ],
    [
      'an ETag goes before a date',
      {},
      { status: 200, digest: 'd2', etag: '"2"', modified: MODIFIED },
      'plain',
      'changed',
      'up',
    ],
    [
      'a server that heeds no condition',
      {},
      { status: 200, digest: 'd2', etag: '"1"' },
      'conditional',
      'changed',
      'same',
    ],
    ['no validators any more', {}, { status: 200, digest: 'd2' }, 'plain', 'changed', 'same'],
    ['no validators, same', {}, { status: 200, digest: 'd1' }, 'plain', 'unchanged', 'same'],
    [
      'no digest then, same ETag',
      { digest: undefined },
      { status: 200, digest: 'd1', etag: '"1"' },
      'plain',
      'unchanged',
      'same',
    ],
    ['no digest now, same ETag', {}, { status: 200, etag: '"1"' }, 'plain', 'unchanged', 'same'],
    ['no digest now, another ETag', {}, { status: 200, etag: '"2"' }, 'plain', 'changed', 'same'],
    ['no digest, same date', {}, { status: 200, modified: MODIFIED }, 'plain', 'unchanged', 'same'],
    ['nothing to compare', { digest: undefined }, { status: 200 }, 'plain', 'changed', 'same'],
  ]
  it.for(cases)('%s', ([, more, sight, asked, change, trust]) => {
    for (const before of [undefined, 0, 3, 6]) {
      const answer = checked({ ...KNOWN, ...more, trust: before }, sight, asked)
      expect(answer.change).toBe(change)
      if (trust === 'same') expect(answer.trust).toBe(before)
      else if (trust === 'up') expect(answer.trust).toBeGreaterThan(before ?? 0)
      else expect(answer.trust).toBeLessThan(0)
    }
  })

  const lie = { status: 200, digest: 'd2', etag: '"1"' }
  const quiet = { status: 200, digest: 'd1', etag: '"1"' }
  const trustFrom = (trust: number | undefined, ...sights: (typeof lie)[]) =>
    sights.reduce<number | undefined>(
      (held, sight) => checked({ ...KNOWN, trust: held }, sight, 'plain').trust,
      trust,
    )!

  it('forgives after several visits in a row that agree, not before', () => {
    expect(trustFrom(8, lie)).toBe(trustFrom(0, lie))
    expect(trustFrom(8, lie, quiet, quiet, quiet)).toBeLessThan(0)
    expect(trustFrom(8, lie, quiet, quiet, quiet, quiet)).toBe(0)
    expect(trustFrom(8, lie, quiet, quiet, quiet, lie, quiet, quiet, quiet, quiet)).toBeLessThan(0)
  })

  it('stays within a few small integers, whatever comes', () => {
    const random = seededRandom(11)
    let trust: number | undefined
    const met = new Set<number>()
    for (let n = 0; n < 5000; n++) {
      // Long runs of either kind reach both ends.
      const sight = Math.floor(n / 50) % 2 === 0 ? lie : random.next() < 0.95 ? quiet : lie
      trust = checked({ ...KNOWN, trust }, sight, 'plain').trust
      met.add(trust!)
    }
    expect(Math.min(...met)).toBe(-8)
    expect(Math.max(...met)).toBeLessThanOrEqual(8)
    expect([...met].every(Number.isInteger)).toBe(true)
  })

  /**
   * A server, a page that changes with a chance at each visit, and a crawler that does as it is told: how often was it
   * wrong about a change, and how often did it download for nothing?
   */
  function crawl(etagOf: (version: number, visit: number) => string, changes: number, visits: number) {
    const random = seededRandom(23)
    let version = 0
    let known = 0
    let record: PageRecord = {
      ...KNOWN,
      digest: 'v0',
      etag: etagOf(0, 0),
      modified: undefined,
      trust: undefined,
    }
    let stale = 0
    let downloads = 0
    for (let visit = 1; visit <= visits; visit++) {
      if (random.next() < changes) version++
      const condition = conditionOf(record, random.next())
      const etag = etagOf(version, visit)
      const is304 = condition?.etag === etag
      const sight = is304 ? { status: 304, etag } : { status: 200, digest: `v${version}`, etag }
      const { change, trust } = checked(record, sight, condition === undefined ? 'plain' : 'conditional')
      if (!is304) {
        downloads++
        known = version
        expect(change).toBe(sight.digest === record.digest ? 'unchanged' : 'changed')
        record = { ...record, digest: sight.digest, etag }
      }
      record = { ...record, trust }
      if (known !== version) stale++
    }
    return { stale, downloads }
  }

  it('reads from an honest server little more than what changes', () => {
    const { stale, downloads } = crawl((version) => `"${version}"`, 0.02, 5000)
    expect(stale).toBe(0)
    // 100 changes, and a sixteenth of the visits to check.
    expect(downloads).toBeLessThan(5000 * (0.02 + 1 / 16) * 1.25)
  })

  it('is not deceived for long by a server whose ETag never changes', () => {
    const { stale } = crawl(() => '"1"', 0.5, 5000)
    // With blind trust all visits after the first change were stale.
    expect(stale / 5000).toBeLessThan(0.1)
  })

  it('is never wrong about a server whose ETag always changes', () => {
    expect(crawl((_, visit) => `"${visit}"`, 0.1, 2000)).toEqual({ stale: 0, downloads: 2000 })
  })
})

describe('lastModifiedMs', () => {
  const NOW = Date.UTC(2024, 4, 17, 12, 0, 0)
  const SIXTH = 784_111_777_000
  const header = (ms: number) => new Date(ms).toUTCString()

  const cases: [header: string | undefined, expected: number | undefined][] = [
    ['Sun, 06 Nov 1994 08:49:37 GMT', SIXTH],
    ['Sunday, 06-Nov-94 08:49:37 GMT', SIXTH],
    ['Sun Nov  6 08:49:37 1994', SIXTH],
    ['  sun, 6 nov 1994 08:49:37 gmt ', SIXTH],
    ['06 Nov 1994 08:49:37 UTC', SIXTH],
    ['Sun, 06 Nov 1994 08:49:37 +0000', SIXTH],
    ['Thu, 29 Feb 2024 00:00:00 GMT', Date.UTC(2024, 1, 29)],
    ['Wednesday, 01-May-24 00:00:00 GMT', Date.UTC(2024, 4, 1)],
    [undefined, undefined],
    ['', undefined],
    ['yesterday', undefined],
    ['2024-05-01', undefined],
    ['0', undefined],
    ['1715947200', undefined],
    ['Wed, 29 Feb 2023 00:00:00 GMT', undefined],
    ['Sun, 00 Nov 1994 08:49:37 GMT', undefined],
    ['Sun, 06 Nov 1994 24:49:37 GMT', undefined],
    ['Sun, 06 Nov 1994 08:60:37 GMT', undefined],
    ['Sun, 06 Nix 1994 08:49:37 GMT', undefined],
    ['Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT', undefined],
    ['Thu, 01 Jan 1970 00:00:00 GMT', undefined],
    ['Sun, 31 Dec 1989 23:59:59 GMT', undefined],
    ['Mon, 01 Jan 1990 00:00:00 GMT', Date.UTC(1990, 0, 1)],
    [header(NOW), undefined],
    [header(NOW - 1000), undefined],
    [header(NOW - 2000), undefined],
    [header(NOW - 3000), NOW - 3000],
    [header(NOW + 1000), undefined],
    [header(NOW + 86_400_000), undefined],
    [`Sun, 06 Nov 1994 ${' '.repeat(1e6)}x`, undefined],
  ]
  it.for(cases)('of %o is %o', ([value, expected]) => {
    expect(lastModifiedMs(value, NOW)).toBe(expected)
  })

  it('agrees with the platform about dates that it prints', () => {
    const random = seededRandom(3)
    for (let n = 0; n < 2000; n++) {
      const ms =
        Math.floor((Date.UTC(1990, 0, 1) + random.next() * (NOW - 3000 - Date.UTC(1990, 0, 1))) / 1000) * 1000
      expect(lastModifiedMs(header(ms), NOW)).toBe(ms)
    }
  })
})
