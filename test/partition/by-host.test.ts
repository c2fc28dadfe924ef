import { describe, expect, it } from 'vitest'
import { partitionerSuite } from '../../src/conformance/partitioner.js'
import { byDomain, byHost, MAX_PARTITIONS } from '../../src/partition/by-host.js'

const lastTwoLabels = (host: string) => host.split('.').slice(-2).join('.')
const invalidOption = expect.objectContaining({ name: 'KumoError', code: 'KUMO_INVALID_OPTION' })

describe.for([1, 2, 3, 7, 64, 1000, 1024, MAX_PARTITIONS])('byHost with %i partitions', (partitions) => {
  partitionerSuite({ it, create: () => byHost(partitions) })
})

describe('byHost', () => {
  it('has 1024 partitions unless told otherwise', () => {
    expect(byHost().partitions).toBe(1024)
  })

  it.for([0, -1, 1.5, MAX_PARTITIONS + 1, Number.NaN, Number.POSITIVE_INFINITY, '4', null])(
    'refuses %o partitions',
    (partitions) => {
      expect(() => byHost(partitions as number)).toThrow(invalidOption)
      expect(() => byDomain(lastTwoLabels, partitions as number)).toThrow(invalidOption)
    },
  )

  it('never moves a host, because stored crawls rely on it', () => {
    const hosts = [
      '',
      'localhost',
      'example.com',
      'www.example.com',
      'example.com:8080',
      '127.0.0.1',
      '[::1]',
    ]
    const placed = hosts.map((host) => [host, byHost().partition(host), byHost(7).partition(host)])
    expect(placed).toMatchInlineSnapshot(`
      [
        [
          "",
          755,
          1,
        ],
        [
          "localhost",
          72,
          4,
        ],
        [
          "example.com",
          580,
          5,
        ],
        [
          "www.example.com",
          139,
          4,
        ],
        [
          "example.com:8080",
          753,
          6,
        ],
        [
          "127.0.0.1",
          202,
          5,
        ],
        [
          "[::1]",
          727,
          6,
        ],
      ]
    `)
  })

  const makers: Record<string, (i: number) => string> = {
    'numbered hosts': (i) => `host${i}.example.com`,
    'numbered domains': (i) => `www.site-${i}.com`,
    'short names': (i) => `${i.toString(36)}.io`,
    addresses: (i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
    ports: (i) => `localhost:${i}`,
  }
  it.for(Object.entries(makers))('spreads %s as evenly as chance', ([, make]) => {
    for (const partitions of [1024, 1000, 16]) {
      const partitioner = byHost(partitions)
      const counts = new Uint32Array(partitions)
      const hosts = 100_000
      for (let i = 0; i < hosts; i++) counts[partitioner.partition(make(i))]!++
      const share = hosts / partitions
      const chiSquare = counts.reduce((sum, count) => sum + (count - share) ** 2 / share, 0)
      // Chi-square has the mean of its degrees of freedom and twice that as variance.
      const freedom = partitions - 1
      expect(Math.abs(chiSquare - freedom)).toBeLessThan(5 * Math.sqrt(2 * freedom))
    }
  })
})

describe('byDomain', () => {
  // The suite's hosts are largely sub-domains of a few sites, which this partitioner keeps together on purpose.
  partitionerSuite({ it, create: () => byDomain(lastTwoLabels), even: false })

  it('keeps hosts of one site together and sites apart', () => {
    const partitioner = byDomain(lastTwoLabels)
    const sites = Array.from({ length: 1000 }, (_, i) => `site${i}.com`)
    for (const site of sites) {
      const expected = byHost().partition(site)
      for (const host of [site, `www.${site}`, `a.b.${site}`])
        expect(partitioner.partition(host)).toBe(expected)
    }
    expect(new Set(sites.map((site) => partitioner.partition(site))).size).toBeGreaterThan(500)
  })

  it('refuses a siteOf that is no function, or that names no site', () => {
    expect(() => byDomain('example.com' as never)).toThrow(invalidOption)
    expect(() => byDomain(() => undefined as never).partition('example.com')).toThrow(
      expect.objectContaining({
        code: 'KUMO_CONTRACT_BROKEN',
        message: expect.stringContaining('example.com'),
      }),
    )
  })
})
