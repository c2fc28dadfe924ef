import type { SharedWork, TakenDocument } from '../../contract.js'
import type { Command, RedisClient } from '../client/contract.js'
import type { Journal } from './journal.js'
import type { CrawlStatus } from './reply.js'

/** Documents of all nodes together; beyond, each keeps its own. */
const MOST_BYTES = 64 * 1024 * 1024

export interface SharedWorkParts {
  readonly client: RedisClient
  readonly key: string
  readonly journal: Journal
  /** Takes documents for this node. */
  take(most: number): Promise<readonly string[]>
  /** A document of this commit was read. */
  hasRead(seq: number): void
}

/** The stream of documents that busy nodes leave to idle ones, as one node sees it. */
export class RedisWork implements SharedWork {
  readonly #parts: SharedWorkParts
  #status: CrawlStatus | undefined = undefined
  /** Changes when everything that was taken is void. */
  #epoch = 0
  /** What this node has taken, until Redis knows that it is done. */
  #taken = new Map<string, TakenDocument>()
  #onChange: () => void = () => {}

  constructor(parts: SharedWorkParts) {
    this.#parts = parts
  }

  get room(): number {
    const { nodes = 1, workBytes = 0 } = this.#status ?? {}
    if (nodes < 2) return 0
    // What the others add at the same time is heard of later.
    return (MOST_BYTES - workBytes) / nodes - this.#parts.journal.workBytes
  }

  get waiting(): number {
    return this.#status?.waiting ?? 0
  }

  get isLeft(): boolean {
    return (this.#status?.workBytes ?? 0) > 0 || this.#parts.journal.workBytes > 0
  }

  reserve(bytes: number): void {
    this.#parts.journal.reserveWork(bytes)
  }

  release(bytes: number): void {
    this.#parts.journal.reserveWork(-bytes)
  }

  async take(most: number): Promise<readonly TakenDocument[]> {
    const { client, key, take, hasRead } = this.#parts
    const epoch = this.#epoch
    const ids = await take(this.#taken.size + most)
    const fresh = ids.filter((id) => !this.#taken.has(id))
    const replies = await client.read(fresh.map((id): Command => ['XRANGE', `${key}:work`, id, id]))
    if (epoch !== this.#epoch) return []
    for (const id of this.#taken.keys()) if (!ids.includes(id)) this.#taken.delete(id)
    const documents: TakenDocument[] = []
    for (const reply of replies) {
      for (const [id, fields] of reply as readonly (readonly [Buffer, readonly Buffer[]])[]) {
        const document = { id: id.toString(), hook: fields[1]!.toString(), page: fields[3]! }
        hasRead(Number.parseInt(document.id, 10))
        this.#taken.set(document.id, document)
        documents.push(document)
      }
    }
    return documents
  }

  done(document: TakenDocument): void {
    const { id, page } = document
    // Otherwise this node was evicted meanwhile, or the server has lost it: another one takes it, or its page is visited again.
    if (this.#taken.get(id) === document) this.#parts.journal.done(id, page.byteLength)
  }

  watch(onChange: () => void): void {
    this.#onChange = onChange
  }

  heard(status: CrawlStatus): void {
    const before = this.#status
    this.#status = status
    const hadNone = before === undefined || (before.workBytes === 0 && before.nodes === status.nodes)
    if (!hadNone || status.workBytes > 0) this.#onChange()
  }

  /** The node has lost what it has taken. */
  reset(): void {
    this.#epoch++
    this.#taken.clear()
  }
}
