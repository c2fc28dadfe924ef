import type { PartitionSnapshot } from '../engine/contract.js'
import type { OwnershipView } from '../partition/contract.js'
import type { ToWorker } from './messages.js'

/** What moves need of the threads. */
export interface MoveWorkers {
  command(shard: number, message: ToWorker): void
  isWorking(shard: number): boolean
  /** No move is under way any more. */
  settled(): void
}

interface Move {
  readonly partitions: readonly number[]
  readonly from: number
  readonly to: number
  readonly version: number
  /** From the moment on when the giver has let go: nobody but the main thread has what belongs to the partitions. */
  snapshot: PartitionSnapshot | undefined
  /** Somebody may have had them, and visited their hosts, until then: a receiver that died. */
  visitedUntil: number | undefined
}

/**
 * Partitions on their way from one shard to another, one move at a time. The receiver is told first, so that it holds
 * what arrives early; the giver hands its snapshot to the main thread, which passes it on and keeps it until the receiver
 * has it. So whoever dies meanwhile, the partitions have exactly one owner and nothing of them is lost that the giver
 * had handed over. What others still send to the giver, it passes on.
 */
export class Moves {
  readonly #ownership: OwnershipView
  readonly #threads: MoveWorkers
  #move: Move | undefined = undefined

  constructor(ownership: OwnershipView, threads: MoveWorkers) {
    this.#ownership = ownership
    this.#threads = threads
  }

  get isBusy(): boolean {
    return this.#move !== undefined
  }

  /** Partitions that a shard owns and does not have yet: they are on their way to it, from another. */
  onTheWayTo(shard: number): { readonly partitions: readonly number[]; readonly from: number } | undefined {
    const move = this.#move
    return move?.snapshot !== undefined && move.to === shard ? move : undefined
  }

  start(partitions: readonly number[], from: number, to: number): void {
    if (this.#move !== undefined || !this.#threads.isWorking(from) || !this.#threads.isWorking(to)) return
    // Whoever asks may have heard of who had what before the last move.
    if (partitions.some((partition) => this.#ownership.ownerOf(partition) !== from)) return
    const version = this.#ownership.version + 1
    this.#move = { partitions, from, to, version, snapshot: undefined, visitedUntil: undefined }
    this.#threads.command(to, { kind: 'expect', partitions, isComing: true })
    this.#threads.command(from, { kind: 'give', partitions, to, version })
  }

  released(from: number, snapshot: PartitionSnapshot): void {
    const move = this.#move
    if (move === undefined || move.from !== from) return
    move.snapshot = snapshot
    // From here on the receiver owns them, also if it has to be replaced before it has them.
    this.#ownership.move(move.partitions, move.to, move.version)
    this.#pass(move)
  }

  adopted(to: number, version: number): void {
    const move = this.#move
    if (move === undefined || move.to !== to || move.version !== version) return
    const { partitions } = move
    this.#move = undefined
    for (let shard = 0; shard < this.#ownership.shards; shard++) {
      if (shard !== to) this.#threads.command(shard, { kind: 'moved', partitions, to, version })
    }
    this.#threads.settled()
  }

  died(shard: number, at: number): void {
    const move = this.#move
    // Without its receiver a move goes on: the successor gets what the giver lets go of.
    if (move?.to === shard && move.snapshot !== undefined) move.visitedUntil = at
    if (move?.from !== shard || move.snapshot !== undefined) return
    this.#move = undefined
    this.#threads.command(move.to, { kind: 'expect', partitions: move.partitions, isComing: false })
    this.#threads.settled()
  }

  /** A shard that died has a successor, to whom what was meant for the dead one goes. */
  replaced(shard: number): void {
    const move = this.#move
    if (move === undefined || move.to !== shard) return
    this.#threads.command(shard, { kind: 'expect', partitions: move.partitions, isComing: true })
    if (move.snapshot !== undefined) this.#pass(move)
  }

  #pass({ to, snapshot, version, visitedUntil }: Move): void {
    if (!this.#threads.isWorking(to)) return
    this.#threads.command(to, { kind: 'take', snapshot: snapshot!, version, visitedUntil })
  }
}
