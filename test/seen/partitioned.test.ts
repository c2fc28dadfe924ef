import { describe, expect, it } from 'vitest'
import { seenStoreSuite } from '../../src/conformance/seen.js'
import { byHost } from '../../src/partition/by-host.js'
import { partitionedTable } from '../../src/seen/partitioned.js'
import { seededRandom } from '../../src/time.js'

const PARTITIONS = 1024
const { partition } = byHost(PARTITIONS)

/** Hosts say their partition themselves: `p7-a.example`. */
const told = (host: string) => Number(/^p(\d+)-/.exec(host)?.[1] ?? 0)

function urlsOf(host: string, count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, i) => `https://${host}/${from + i}`)
}

describe('partitionedTable', () => {
  seenStoreSuite({ it, create: () => partitionedTable(partition) })

  it('answers without a promise', () => {
    expect(partitionedTable(partition).addAll(['https://example.com/'])).toEqual([true])
  })

  it('refuses what is no URL, and adds nothing', () => {
    const seen = partitionedTable(partition)
    expect(() => seen.addAll(['https://example.com/', 1 as unknown as string])).toThrow(
      expect.objectContaining({ name: 'KumoError', code: 'KUMO_CONTRACT_BROKEN' }),
    )
    expect(seen.size).toBe(0)
  })

  it('is of no use after close, and still tells its size', () => {
    const seen = partitionedTable(partition)
    seen.addAll(['https://example.com/'])
    seen.close()
    const closed = expect.objectContaining({ name: 'KumoError', code: 'KUMO_STORE_FAILED' })
    expect(() => seen.addAll([])).toThrow(closed)
    expect(() => seen.release(0)).toThrow(closed)
    expect(() => seen.adopt(0, new Uint32Array(2))).toThrow(closed)
    expect(seen.size).toBe(1)
  })

  const names: [string, number][] = [
    ['https://p1-a.example/', 1],
    ['http://p2-a.example/x', 2],
    ['https://p3-a.example:8080/p1-b.example/', 3],
    ['sitemap https://p4-a.example/sitemap.xml', 4],
    ['robots https://p5-a.example/robots.txt', 5],
    ['sitemap http://p6-a.example/sitemap.xml', 6],
  ]
  it('knows the partition of every kind of name, in any order', () => {
    const random = seededRandom(1)
    for (let round = 0; round < 20; round++) {
      const seen = partitionedTable(told)
      const shuffled = names.toSorted(() => random.next() - 0.5)
      seen.addAll(shuffled.map(([name]) => name))
      for (const [name, partition] of names) expect(seen.release(partition), name).toHaveLength(2)
      expect(seen.size).toBe(0)
    }
  })

  it('does not take a host for another that begins like it', () => {
    const seen = partitionedTable((host) => (host === 'a.example' ? 1 : 2))
    const urls = [
      'https://a.example/',
      'https://a.example.com/',
      'https://a.example:8080/',
      'http://a.example/',
    ]
    seen.addAll(urls)
    expect([seen.release(1).length, seen.release(2).length]).toEqual([4, 4])
  })

  it('asks once for the partition of links that stand together', () => {
    const asked: string[] = []
    const seen = partitionedTable((host) => asked.push(host) % 7)
    seen.addAll([...urlsOf('a.example', 300), ...urlsOf('b.example', 5), ...urlsOf('a.example', 3)])
    expect(asked).toEqual(['a.example', 'b.example', 'a.example'])
  })

  it.for([10, 3000, 39_990, 100_000])('gives a partition of %i names away, and takes it', (count) => {
    const [from, to] = [partitionedTable(told), partitionedTable(told)]
    const [moving, staying] = [urlsOf('p5-a.example', count), urlsOf('p6-a.example', 50)]
    from.addAll([...staying, ...moving])
    const prints = structuredClone(from.release(5))
    expect(prints.length).toBe(2 * count)
    expect([from.size, from.release(5).length]).toEqual([50, 0])
    to.addAll(urlsOf('p5-a.example', 20, count - 5))
    to.adopt(5, prints)
    expect(to.size).toBe(count + 15)
    expect(to.addAll(moving).indexOf(true)).toBe(-1)
    expect(to.addAll(urlsOf('p5-a.example', 2, count + 15))).toEqual([true, true])
    expect(from.addAll(staying).indexOf(true)).toBe(-1)
    expect(from.addAll(moving.slice(0, 3))).toEqual([true, true, true])
    to.adopt(9, new Uint32Array(0))
    expect(to.size).toBe(count + 17)
  })

  it('agrees with plain sets while partitions come and go', () => {
    const tables = [partitionedTable(told), partitionedTable(told), partitionedTable(told)]
    const owners = Array.from({ length: 8 }, (_, i) => i % 3)
    const known = new Set<string>()
    const random = seededRandom(2)
    const upTo = (limit: number) => Math.floor(random.next() * limit)
    for (let i = 0; i < 3000; i++) {
      const partition = upTo(8)
      const table = tables[owners[partition]!]!
      if (random.next() < 0.05) {
        const to = upTo(3)
        const prints = table.release(partition)
        tables[to]!.adopt(partition, prints)
        owners[partition] = to
        continue
      }
      const urls = Array.from(
        { length: upTo(300) },
        () => `https://p${partition}-${upTo(3)}.example/${upTo(20_000)}`,
      )
      const expected = urls.map((url) => !known.has(url) && known.add(url) !== undefined)
      expect(table.addAll(urls)).toEqual(expected)
    }
    expect(tables.reduce((sum, { size }) => sum + size, 0)).toBe(known.size)
  })

  it('is small when empty, and when many partitions hold a name each', () => {
    const seen = partitionedTable(told)
    expect(seen.bytes).toBeLessThan(4096)
    for (let i = 0; i < PARTITIONS; i++) seen.addAll([`https://p${i}-a.example/`])
    expect(seen.bytes).toBeLessThan(1_200_000)
    for (let i = 0; i < PARTITIONS; i++) seen.release(i)
    expect([seen.size, seen.bytes < 4096]).toEqual([0, true])
  })

  const spread: [string, number][] = [
    [`over ${PARTITIONS} partitions`, PARTITIONS],
    ['over 7 partitions', 7],
    ['in one partition', 1],
  ]
  it.for(spread)('takes at most 16 bytes a name for a million %s', ([, partitions]) => {
    const seen = partitionedTable(told)
    let most = 0
    const batch = 100
    for (let from = 0; from < 1_000_000; from += batch) {
      seen.addAll(urlsOf(`p${(from / batch) % partitions}-a.example`, batch, from))
      if (seen.size >= 300_000) most = Math.max(most, seen.bytes / seen.size)
    }
    expect(seen.size).toBe(1_000_000)
    expect(most).toBeLessThan(16)
  })

  it('uses the memory of partitions that left for those that come', () => {
    const seen = partitionedTable(told)
    for (let i = 0; i < 20; i++) seen.addAll(urlsOf(`p${i}-a.example`, 5000))
    const before = seen.bytes
    for (let round = 0; round < 5; round++) {
      const given = [1, 2, 3].map((partition) => seen.release(partition))
      for (const [i, prints] of given.entries()) seen.adopt(i + 1, prints)
    }
    expect(seen.bytes).toBeLessThan(1.2 * before)
    expect(seen.size).toBe(100_000)
  })
})
