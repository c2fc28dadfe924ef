import type { Parcel } from '../engine/contract.js'
import type { OwnershipView } from '../partition/contract.js'
import type { ToThread } from './messages.js'

/** What moves need of the threads. */
export interface MoveThreads {
  order(shard: number, message: ToThread): void
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
  parcel: Parcel | undefined
  /** Somebody may have had them, and visited their hosts, until then: a receiver that died. */
  visitedUntil: number | undefined
}

/**
 * Partitions on their way from one shard to another, one move at a time. The receiver is told first, so that it holds
 * what arrives early; the giver hands its parcel to the main thread, which passes it on and keeps it until the receiver
 * has it. So whoever dies meanwhile, the partitions have exactly one owner and nothing of them is lost that the giver
 * had handed over. What others still send to the giver, it passes on.
 */
export class Moves {
  readonly #ownership: OwnershipView
  readonly #threads: MoveThreads
  #move: Move | undefined = undefined

  constructor(ownership: OwnershipView, threads: MoveThreads) {
    this.#ownership = ownership
    this.#threads = threads
  }

  get isBusy(): boolean {
    return this.#move !== undefined
  }

  /** Partitions that a shard owns and does not have yet: they are on their way to it, from another. */
  onTheWayTo(shard: number): { readonly partitions: readonly number[]; readonly from: number } | undefined {
    const move = this.#move
    return move?.parcel !== undefined && move.to === shard ? move : undefined
  }

  start(partitions: readonly number[], from: number, to: number): void {
    if (this.#move !== undefined || !this.#threads.isWorking(from) || !this.#threads.isWorking(to)) return
    // Whoever asks may have heard of who had what before the last move.
    if (partitions.some((partition) => this.#ownership.ownerOf(partition) !== from)) return
    const version = this.#ownership.version + 1
    this.#move = { partitions, from, to, version, parcel: undefined, visitedUntil: undefined }
    this.#threads.order(to, { kind: 'expect', partitions, isComing: true })
    this.#threads.order(from, { kind: 'give', partitions, to, version })
  }

  gave(from: number, parcel: Parcel): void {
    const move = this.#move
    if (move === undefined || move.from !== from) return
    move.parcel = parcel
    // From here on the receiver owns them, also if it has to be replaced before it has them.
    this.#ownership.move(move.partitions, move.to, move.version)
    this.#pass(move)
  }

  took(to: number, version: number): void {
    const move = this.#move
    if (move === undefined || move.to !== to || move.version !== version) return
    const { partitions } = move
    this.#move = undefined
    for (let shard = 0; shard < this.#ownership.shards; shard++) {
      if (shard !== to) this.#threads.order(shard, { kind: 'moved', partitions, to, version })
    }
    this.#threads.settled()
  }

  died(shard: number, at: number): void {
    const move = this.#move
    // Without its receiver a move goes on: the successor gets what the giver lets go of.
    if (move?.to === shard && move.parcel !== undefined) move.visitedUntil = at
    if (move?.from !== shard || move.parcel !== undefined) return
    this.#move = undefined
    this.#threads.order(move.to, { kind: 'expect', partitions: move.partitions, isComing: false })
    this.#threads.settled()
  }

  /** A shard that died has a successor, to whom what was meant for the dead one goes. */
  replaced(shard: number): void {
    const move = this.#move
    if (move === undefined || move.to !== shard) return
    this.#threads.order(shard, { kind: 'expect', partitions: move.partitions, isComing: true })
    if (move.parcel !== undefined) this.#pass(move)
  }

  #pass({ to, parcel, version, visitedUntil }: Move): void {
    if (!this.#threads.isWorking(to)) return
    this.#threads.order(to, { kind: 'take', parcel: parcel!, version, visitedUntil })
  }
}
