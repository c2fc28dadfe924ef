import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { nextTurn } from '../../time.js'
import type { SearchDocument, WriterOptions } from '../contract.js'
import { readManifest } from '../index/manifest.js'
import { openShard, type ShardWriter, type WriterWork } from '../index/writer.js'

const SHARD = /^shard-(\d{1,4})$/

export interface OwnShardsOptions {
  readonly path: string
  readonly writer: WriterOptions
  /** The number of this worker, and of all workers. */
  readonly worker: number
  readonly workers: number
  /** Whether this worker replaces one that died. */
  readonly replaces: boolean
}

/**
 * The shards that one worker writes: its own, where its documents go, and its part of those that no worker of this crawl
 * has, from a crawl with more workers. Documents only ever leave those.
 */
export class OwnShards {
  readonly #own: ShardWriter
  readonly #abandoned: readonly ShardWriter[]
  /** Shards from which something was removed since their last commit. */
  readonly #removed = new Set<ShardWriter>()
  #committing: Promise<void> | undefined = undefined

  private constructor(own: ShardWriter, abandoned: readonly ShardWriter[]) {
    this.#own = own
    this.#abandoned = abandoned
  }

  static async open({ path, writer, worker, workers, replaces }: OwnShardsOptions): Promise<OwnShards> {
    const first = writer.shard ?? 0
    const own = await openShard(path, { ...writer, shard: first + worker }, replaces)
    const abandoned: ShardWriter[] = []
    try {
      // Shards that were numbered by hand are those of other programs.
      if (writer.shard === undefined)
        for (const shard of shardsBeyond(path, workers))
          if (shard % workers === worker)
            abandoned.push(await openShard(path, { ...writer, shard }, replaces))
    } catch (error) {
      await Promise.allSettled([own, ...abandoned].map((each) => each.close()))
      throw error
    }
    return new OwnShards(own, abandoned)
  }

  get work(): WriterWork {
    return this.#own.work
  }

  put(document: SearchDocument): Promise<void> {
    return this.#own.put(document)
  }

  /** Removes a document; the next commit makes it durable. */
  async delete(id: string): Promise<void> {
    for (const shard of [this.#own, ...this.#abandoned]) if (shard.has(id)) await shard.delete(id)
  }

  /** Removes documents that are about to be in a shard of another worker; undefined if there were none. */
  drop(ids: readonly string[]): Promise<void> | undefined {
    return this.#dropFrom([this.#own, ...this.#abandoned], ids)
  }

  /** The same, before documents are put here. */
  dropFromOthers(ids: readonly string[]): Promise<void> | undefined {
    return this.#abandoned.length === 0 ? undefined : this.#dropFrom(this.#abandoned, ids)
  }

  async commit(): Promise<void> {
    await Promise.all([this.#own, ...this.#abandoned].map((shard) => shard.commit()))
  }

  async close(): Promise<void> {
    const closed = await Promise.allSettled([this.#own, ...this.#abandoned].map((shard) => shard.close()))
    for (const each of closed) if (each.status === 'rejected') throw each.reason
  }

  #dropFrom(shards: readonly ShardWriter[], ids: readonly string[]): Promise<void> | undefined {
    let found = false
    for (const shard of shards) {
      for (const id of ids) {
        if (!shard.has(id)) continue
        found = true
        this.#removed.add(shard)
        void shard.delete(id)
      }
    }
    if (!found) return undefined
    // Requests of one turn share a commit.
    this.#committing ??= nextTurn().then(async () => {
      const removed = [...this.#removed]
      this.#removed.clear()
      this.#committing = undefined
      await Promise.all(removed.map((shard) => shard.commit()))
    })
    return this.#committing
  }
}

function shardsBeyond(path: string, workers: number): number[] {
  return readdirSync(path)
    .map((name) => Number(SHARD.exec(name)?.[1] ?? -1))
    .filter((shard) => shard >= workers)
    .filter((shard) => (readManifest(join(path, `shard-${shard}`))?.segments.length ?? 0) > 0)
    .sort((a, b) => a - b)
}
