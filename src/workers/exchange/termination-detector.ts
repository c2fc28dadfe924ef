/**
 * Sent by a shard when it becomes idle: how much it has sent to and received from each other shard since it started.
 */
export interface IdleReport {
  /** Batches and messages sent to each shard since they were connected. */
  readonly sent: readonly number[]
  /** Batches and messages of each shard that it has processed. */
  readonly processed: readonly number[]
  /** Commands of the main thread that it has carried out. */
  readonly commands: number
}

/**
 * Detects from the shards' reports alone that all are idle and nothing is in transit between them: all have reported,
 * and for every pair, one has processed as much as the other has sent.
 *
 * Proof that no shard is working then: suppose some are, and consider the one that received work first after its
 * report. The work came in a batch that its own report does not count, so the sender's report does not count it either.
 * The sender therefore sent it after its report, and so had received work even earlier: a contradiction. Work may also
 * come from the main thread, to which this argument does not apply. Its commands are therefore counted as well:
 * whatever may give a shard work or change its connections is announced by `commandSent`, and counts until the shard
 * reports that it was carried out.
 */
export class TerminationDetector {
  readonly #reports: (IdleReport | undefined)[]
  readonly #commands: number[]

  constructor(shards: number) {
    this.#reports = Array.from({ length: shards }, () => undefined)
    this.#commands = Array.from({ length: shards }, () => 0)
  }

  /** Call this whenever the shard is sent something that it confirms with `PortExchange.commandDone`. */
  commandSent(shard: number): void {
    this.#commands[shard]!++
  }

  report(shard: number, report: IdleReport): void {
    this.#reports[shard] = report
  }

  /**
   * The shard died and is being replaced: its counts start from zero. Ignore late reports of the dead worker;
   * connecting the others to the replacement is a command to them.
   */
  reset(shard: number): void {
    this.#reports[shard] = undefined
    this.#commands[shard] = 0
  }

  get isTerminated(): boolean {
    return this.#reports.every((report, shard) => {
      if (report?.commands !== this.#commands[shard]) return false
      return report!.sent.every((sent, other) => sent === this.#reports[other]?.processed[shard])
    })
  }
}
