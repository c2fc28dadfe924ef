/** Proves a `HostPartitioner`, and the views that shards have of an `Ownership`. */

import assert from 'node:assert/strict'
import type { HostPartitioner, Ownership } from '../partition/contract.js'
import { casesOf, type SuiteOptions } from './suite.js'

/** Options of the partitioner's suite. Each `create` must return an equal partitioner, as on another thread. */
export interface PartitionerSuiteOptions extends SuiteOptions<HostPartitioner> {
  /**
   * Whether hosts must be spread evenly over the partitions; false for a partitioner with another goal. Default true.
   */
  even?: boolean
}

const PECULIAR_HOSTS = [
  '',
  'localhost',
  '127.0.0.1',
  '127.0.0.1:8080',
  '[::1]',
  '[2001:db8::1]:8443',
  'example.com:8080',
  'xn--bcher-kva.example',
  'EXAMPLE.com',
  'example.com.',
  `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.example`,
  '__proto__',
  'constructor',
]

const HOSTS = 20_000

/**
 * How far the fullest partition may exceed its share, in standard deviations of an even spread. With 65,536 partitions,
 * one exceeds this by chance about once in ten thousand runs.
 */
const FULLEST_DEVIATIONS = 7

/** Registers the cases that every partitioner must pass. */
export function partitionerSuite(options: PartitionerSuiteOptions): void {
  const check = casesOf(options)
  const hosts = syntheticHosts(HOSTS)

  check('the number of partitions is an integer of at least 1', ({ partitions }) => {
    assert.ok(Number.isInteger(partitions) && partitions >= 1, `partitions is ${partitions}`)
  })

  check('the partition of every host is within the range', (partitioner) => {
    for (const host of [...PECULIAR_HOSTS, ...hosts]) {
      const partition = partitioner.partition(host)
      const within = Number.isInteger(partition) && partition >= 0 && partition < partitioner.partitions
      assert.ok(within, `${host} is in partition ${partition} of ${partitioner.partitions}`)
    }
  })

  check('the number of partitions does not change', (partitioner) => {
    const before = partitioner.partitions
    for (const host of hosts) partitioner.partition(host)
    assert.equal(partitioner.partitions, before)
  })

  check('a host has the same partition in every instance and in any order', async (partitioner) => {
    const asked = [...PECULIAR_HOSTS, ...hosts]
    const other = await options.create()
    assert.equal(other.partitions, partitioner.partitions)
    const first = asked.map((host) => partitioner.partition(host))
    const backwards = asked.toReversed().map((host) => other.partition(host))
    const again = asked.map((host) => partitioner.partition(host))
    assert.deepEqual(again, first, 'the same partitioner moved a host')
    assert.deepEqual(backwards.toReversed(), first, 'another instance puts a host into another partition')
  })

  if (options.even === false) return

  check('hosts are spread evenly', (partitioner) => {
    const counts = new Uint32Array(partitioner.partitions)
    for (const host of hosts) counts[partitioner.partition(host)]!++
    const share = hosts.length / counts.length
    const fullest = counts.reduce((most, count) => Math.max(most, count), 0)
    // If the share is below one, the deviation of a count of one is still one.
    const limit = share + FULLEST_DEVIATIONS * Math.max(Math.sqrt(share), 1)
    assert.ok(fullest <= limit, `one partition has ${fullest} hosts instead of about ${share.toFixed(1)}`)
    // As many empty partitions as expected by chance, plus a tenth of all.
    const empty = counts.filter((count) => count === 0).length / counts.length
    const byChance = (1 - 1 / counts.length) ** hosts.length
    assert.ok(empty <= byChance + 0.1, `${(empty * 100).toFixed(0)} % of the partitions have no host`)
  })
}

/** Options of the ownership's suite: `create` returns the views of all shards, in shard order. */
export interface OwnershipSuiteOptions extends SuiteOptions<readonly Ownership[]> {
  /** Number of partitions. Default 1024. */
  partitions?: number
}

/** Registers the cases that the shards' views of one ownership must pass. */
export function ownershipSuite(options: OwnershipSuiteOptions): void {
  const check = casesOf(options)
  const partitions = options.partitions ?? 1024

  check('each shard knows its own number', (views) => {
    assert.ok(views.length > 0)
    for (const [shard, view] of views.entries()) assert.equal(view.self, shard)
  })

  check('each partition is owned by a shard, and all views agree on it', (views) => {
    for (let partition = 0; partition < partitions; partition++) {
      const owners = views.map((view) => view.ownerOf(partition))
      const owner = owners[0]!
      const among = Number.isInteger(owner) && owner >= 0 && owner < views.length
      assert.ok(among, `partition ${partition} is owned by ${owner} of ${views.length} shards`)
      assert.ok(
        owners.every((other) => other === owner),
        `partition ${partition} is owned by ${owners.join(' and ')}`,
      )
    }
  })

  check('the same version gives the same owners', (views) => {
    for (const view of views) {
      const { version } = view
      assert.ok(Number.isInteger(version) && version >= 0, `version is ${version}`)
      const owners = Array.from({ length: partitions }, (_, partition) => view.ownerOf(partition))
      const again = Array.from({ length: partitions }, (_, partition) => view.ownerOf(partition))
      if (view.version === version) assert.deepEqual(again, owners)
    }
  })

  check('every shard owns a partition', (views) => {
    const owners = new Set(Array.from({ length: partitions }, (_, partition) => views[0]!.ownerOf(partition)))
    assert.equal(owners.size, Math.min(views.length, partitions))
  })
}

/** Hosts as on the web: many similar names, with running numbers, and subdomains of one domain. */
function syntheticHosts(count: number): string[] {
  const endings = ['com', 'org', 'net', 'de', 'co.uk', 'co.jp', 'io']
  return Array.from({ length: count }, (_, i) => {
    if (i % 3 === 0) return `shop${i}.example.com`
    if (i % 3 === 1) return `www.site-${i}.${endings[i % endings.length]}`
    return `site${i.toString(36)}.${endings[i % endings.length]}`
  })
}
