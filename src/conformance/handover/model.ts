/** The simplest possible crawl of several shards: a model of each partition, and its owner. */

import assert from 'node:assert/strict'
import type { Frontier, Politeness, Settlement } from '../../frontier/contract.js'
import type { CrawlRequest } from '../../types.js'
import { FrontierModel } from '../frontier/model.js'

/** The owner of partitions that are on their way. */
const NOBODY = -1

export class ShardsModel {
  readonly #partitions: readonly FrontierModel[]
  readonly #owners: number[]
  /** About to leave. */
  #leaving: readonly number[] = []
  readonly #partitionOf: (host: string) => number

  constructor(politeness: Politeness, owners: readonly number[], partitionOf: (host: string) => number) {
    this.#partitions = owners.map(() => new FrontierModel(politeness))
    this.#owners = [...owners]
    this.#partitionOf = partitionOf
  }

  get pending(): number {
    return this.#partitions.reduce((sum, { pending }) => sum + pending, 0)
  }

  ownerOf(host: string): number | undefined {
    const owner = this.#owners[this.#partitionOf(host)]!
    return owner === NOBODY ? undefined : owner
  }

  ownedBy(shard: number): number[] {
    return [...this.#owners.keys()].filter((partition) => this.#owners[partition] === shard)
  }

  leasedBy(shard: number): CrawlRequest[] {
    return this.#of(shard).flatMap(({ leased }) => leased)
  }

  added(requests: readonly CrawlRequest[]): void {
    for (const request of requests) this.#model(request).added([request])
  }

  /** Fails if the model of a partition does, or if a lease is from a partition of another shard. */
  handedOut(shard: number, requests: readonly CrawlRequest[], now: number): void {
    for (const request of requests) {
      const partition = this.#partitionOf(request.host)
      assert.equal(this.#owners[partition], shard, `the owner of ${request.url}, which was handed out`)
      assert.ok(
        !this.#leaving.includes(partition),
        `${request.url} was handed out, although its partition is about to leave`,
      )
      this.#model(request).handedOut([request], 1, now)
    }
  }

  settled(settlements: readonly Settlement[]): void {
    for (const settlement of settlements) {
      this.#model(settlement.request).settled([{ ...settlement, found: undefined }])
      this.added(settlement.found ?? [])
    }
  }

  /** When the shard must have something to hand out. */
  nextDue(shard: number): number {
    const able = this.ownedBy(shard).filter((partition) => !this.#leaving.includes(partition))
    return Math.min(Number.POSITIVE_INFINITY, ...able.map((each) => this.#partitions[each]!.nextDue()))
  }

  /** Fails if counts are not exact. */
  agreesWith(shard: number, { pending, leased, hosts }: Frontier): void {
    const sum = (count: (model: FrontierModel) => number) =>
      this.#of(shard).reduce((total, model) => total + count(model), 0)
    const expected = {
      pending: sum((model) => model.pending),
      leased: sum((model) => model.leased.length),
      hosts: sum((model) => model.hosts),
    }
    assert.deepEqual({ pending, leased, hosts }, expected, `the counts of shard ${shard}`)
  }

  leaves(partitions: readonly number[]): void {
    this.#leaving = partitions
  }

  /** Whether no request of the partitions that are about to leave is leased. */
  get isQuiet(): boolean {
    return this.#leaving.every((partition) => this.#partitions[partition]!.leased.length === 0)
  }

  left(): void {
    for (const partition of this.#leaving) this.#owners[partition] = NOBODY
    this.#leaving = []
  }

  arrived(partitions: readonly number[], shard: number): void {
    for (const partition of partitions) this.#owners[partition] = shard
  }

  #of(shard: number): FrontierModel[] {
    return this.ownedBy(shard).map((partition) => this.#partitions[partition]!)
  }

  #model({ host }: CrawlRequest): FrontierModel {
    return this.#partitions[this.#partitionOf(host)]!
  }
}
