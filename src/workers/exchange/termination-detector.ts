/** What a shard tells when it rests: how much it has sent and taken in since it began, by the other's number. */
export interface RestReport {
  /** Batches and messages that it has sent to each shard since they were connected. */
  readonly sent: readonly number[]
  /** Those of each shard that it has taken in. */
  readonly taken: readonly number[]
  /** Orders of the main thread that it has carried out. */
  readonly orders: number
}

/**
 * Whether all shards rest and nothing is on its way between them, seen from their reports alone: all have reported, and
 * for every two of them, the one has taken in as much as the other has sent.
 *
 * Then no shard is at work. Suppose some were, and look at the one that got work first after its report. It got it in
 * a batch, which is not counted in its own report, so not in the sender's either. The sender sent it after its report,
 * and so had got work even earlier: a contradiction. But work may also come from the main thread, which knows no
 * contradiction of this kind. So its orders are counted as well: whatever may give a shard work or change its
 * connections is announced by `ordered`, and counts until the shard reports that it has been carried out.
 */
export class Quiet {
  readonly #reports: (RestReport | undefined)[]
  readonly #orders: number[]

  constructor(shards: number) {
    this.#reports = Array.from({ length: shards }, () => undefined)
    this.#orders = Array.from({ length: shards }, () => 0)
  }

  /** To be called whenever this shard is sent something that it answers with `PortExchange.orderDone`. */
  ordered(shard: number): void {
    this.#orders[shard]!++
  }

  report(shard: number, report: RestReport): void {
    this.#reports[shard] = report
  }

  /**
   * The shard died, and another takes its place: it counts from the beginning. What the dead one still had to say is not
   * to be passed in, and that the others are connected to the new one is an order to them.
   */
  reset(shard: number): void {
    this.#reports[shard] = undefined
    this.#orders[shard] = 0
  }

  get isQuiet(): boolean {
    return this.#reports.every((report, shard) => {
      if (report?.orders !== this.#orders[shard]) return false
      return report!.sent.every((sent, other) => sent === this.#reports[other]?.taken[shard])
    })
  }
}
