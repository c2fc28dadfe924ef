import type { PartitionSnapshot } from '../engine/contract.js'
import type { OwnershipView } from '../partition/contract.js'
import type { ToWorker } from './messages.js'

/** What moves need from the workers. */
export interface MoveWorkers {
  command(shard: number, message: ToWorker): void
  isWorking(shard: number): boolean
  /** The current move is finished or cancelled. */
  settled(): void
}

interface Move {
  readonly partitions: readonly number[]
  readonly from: number
  readonly to: number
  readonly version: number
  /** Present once the sender has released the partitions: from then on only the main thread has their data. */
  snapshot: PartitionSnapshot | undefined
  /** A receiver that died may have visited their hosts until then. */
  visitedUntil: number | undefined
}

/**
 * Moves partitions from one shard to another, one move at a time. The receiver is notified first, so that it holds back
 * what arrives early. The sender hands its snapshot to the main thread, which passes it on and keeps it until the
 * receiver confirms. Whichever worker dies in between, the partitions have exactly one owner, and nothing that the sender
 * released is lost. The sender forwards whatever still arrives for them.
 */
export class Moves {
  readonly #ownership: OwnershipView
  readonly #workers: MoveWorkers
  #move: Move | undefined = undefined

  constructor(ownership: OwnershipView, threads: MoveWorkers) {
    this.#ownership = ownership
    this.#workers = threads
  }

  get isBusy(): boolean {
    return this.#move !== undefined
  }

  /** Partitions that a shard owns but does not have yet, because they are in transit to it. */
  inTransitTo(shard: number): { readonly partitions: readonly number[]; readonly from: number } | undefined {
    const move = this.#move
    return move?.snapshot !== undefined && move.to === shard ? move : undefined
  }

  start(partitions: readonly number[], from: number, to: number): void {
    if (this.#move !== undefined || !this.#workers.isWorking(from) || !this.#workers.isWorking(to)) return
    // The caller's view may predate the last move.
    if (partitions.some((partition) => this.#ownership.ownerOf(partition) !== from)) return
    const version = this.#ownership.version + 1
    this.#move = { partitions, from, to, version, snapshot: undefined, visitedUntil: undefined }
    this.#workers.command(to, { kind: 'expect', partitions, isComing: true })
    this.#workers.command(from, { kind: 'release', partitions, to, version })
  }

  released(from: number, snapshot: PartitionSnapshot): void {
    const move = this.#move
    if (move === undefined || move.from !== from) return
    move.snapshot = snapshot
    // From here on the receiver owns them, even if it must be replaced before they arrive.
    this.#ownership.move(move.partitions, move.to, move.version)
    this.#forward(move)
  }

  adopted(to: number, version: number): void {
    const move = this.#move
    if (move === undefined || move.to !== to || move.version !== version) return
    const { partitions } = move
    this.#move = undefined
    for (let shard = 0; shard < this.#ownership.shards; shard++) {
      if (shard !== to) this.#workers.command(shard, { kind: 'moved', partitions, to, version })
    }
    this.#workers.settled()
  }

  died(shard: number, at: number): void {
    const move = this.#move
    // If the receiver dies the move continues: its replacement gets what the sender releases.
    if (move?.to === shard && move.snapshot !== undefined) move.visitedUntil = at
    if (move?.from !== shard || move.snapshot !== undefined) return
    this.#move = undefined
    this.#workers.command(move.to, { kind: 'expect', partitions: move.partitions, isComing: false })
    this.#workers.settled()
  }

  /** A dead shard was replaced; the replacement gets what was meant for its predecessor. */
  replaced(shard: number): void {
    const move = this.#move
    if (move === undefined || move.to !== shard) return
    this.#workers.command(shard, { kind: 'expect', partitions: move.partitions, isComing: true })
    if (move.snapshot !== undefined) this.#forward(move)
  }

  #forward({ to, snapshot, version, visitedUntil }: Move): void {
    if (!this.#workers.isWorking(to)) return
    this.#workers.command(to, { kind: 'adopt', snapshot: snapshot!, version, visitedUntil })
  }
}
