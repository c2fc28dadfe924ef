import type { RequestSpec } from '../../url/request-options.js'
import type { PendingCommands } from '../../workers/pending-commands.js'

/** Seeds remembered for replacement workers. Seeds given as a list are known to every worker anyway. */
const SEEDS_REMEMBERED = 10_000

/**
 * Sends seeds to the workers. Every worker receives all of them, because they define the scope; each admits those it owns.
 * Members of a shared crawl pass on what they do not own.
 */
export class SeedDispatch {
  readonly #commands: PendingCommands
  readonly #shards: number
  readonly #ownerOf: (url: string) => number
  /** Seeds that a replacement worker must know. */
  readonly #sent: string[] = []

  constructor(commands: PendingCommands, shards: number, ownerOf: (url: string) => number) {
    this.#commands = commands
    this.#shards = shards
    this.#ownerOf = ownerOf
  }

  /** Resolves once they would survive a crash, as far as the store allows. `isAdded`: while the crawl runs. */
  async admit(seeds: readonly RequestSpec[], isAdded: boolean): Promise<void> {
    const urls = seeds.map(({ url }) => url)
    if (this.#sent.length < SEEDS_REMEMBERED) this.#sent.push(...urls)
    const mine = Array.from({ length: this.#shards }, (): RequestSpec[] => [])
    for (const seed of seeds) mine[this.#ownerOf(seed.url)]!.push(seed)
    await Promise.all(mine.map((own, shard) => this.#send(shard, urls, own, isAdded)))
  }

  /** Brings a replacement up to date. */
  replaced(shard: number): void {
    if (this.#sent.length > 0) void this.#send(shard, this.#sent, [], false)
  }

  #send(
    shard: number,
    urls: readonly string[],
    mine: readonly RequestSpec[],
    isAdded: boolean,
  ): Promise<void> {
    return this.#commands.send(shard, (id) => ({ kind: 'seeds', id, urls, mine, isAdded }))
  }
}
