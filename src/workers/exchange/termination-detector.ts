/** What a shard tells when it rests: how much it has sent and taken in since it began, by the other's number. */
export interface IdleReport {
  /** Batches and messages that it has sent to each shard since they were connected. */
  readonly sent: readonly number[]
  /** Those of each shard that it has taken in. */
  readonly taken: readonly number[]
  /** Orders of the main thread that it has carried out. */
  readonly commands: number
}

/**
 * Whether all shards rest and nothing is on its way between them, seen from their reports alone: all have reported, and
 * for every two of them, the one has taken in as much as the other has sent.
 *
 * Then no shard is at work. Suppose some were, and look at the one that got work first after its report. It got it in
 * a batch, which is not counted in its own report, so not in the sender's either. The sender sent it after its report,
 * and so had got work even earlier: a contradiction. But work may also come from the main thread, which knows no
 * contradiction of this kind. So its commands are counted as well: whatever may give a shard work or change its
 * connections is announced by `ordered`, and counts until the shard reports that it has been carried out.
 */
export class TerminationDetector {
  readonly #reports: (IdleReport | undefined)[]
  readonly #commands: number[]

  constructor(shards: number) {
    this.#reports = Array.from({ length: shards }, () => undefined)
    this.#commands = Array.from({ length: shards }, () => 0)
  }

  /** To be called whenever this shard is sent something that it answers with `PortExchange.orderDone`. */
  commandSent(shard: number): void {
    this.#commands[shard]!++
  }

  report(shard: number, report: IdleReport): void {
    this.#reports[shard] = report
  }

  /**
   * The shard died, and another takes its place: it counts from the beginning. What the dead one still had to say is not
   * to be passed in, and that the others are connected to the new one is an order to them.
   */
  reset(shard: number): void {
    this.#reports[shard] = undefined
    this.#commands[shard] = 0
  }

  get isTerminated(): boolean {
    return this.#reports.every((report, shard) => {
      if (report?.commands !== this.#commands[shard]) return false
      return report!.sent.every((sent, other) => sent === this.#reports[other]?.taken[shard])
    })
  }
}
