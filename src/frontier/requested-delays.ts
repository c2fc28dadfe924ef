/** Forgotten hosts whose pause is remembered; of more, the one forgotten longest ago is told its pause again. */
const PAUSES_REMEMBERED = 100_000

/** The pauses that hosts had asked for when they were forgotten; only those that differ from everybody's. */
export class RequestedDelays {
  readonly #delaysMs = new Map<string, number>()

  /** 0: none, as far as is known. */
  of(host: string): number {
    return this.#delaysMs.get(host) ?? 0
  }

  remember(host: string, delayMs: number): void {
    this.#delaysMs.set(host, delayMs)
    if (this.#delaysMs.size > PAUSES_REMEMBERED)
      this.#delaysMs.delete(this.#delaysMs.keys().next().value as string)
  }

  forget(host: string): void {
    this.#delaysMs.delete(host)
  }

  /** Forgets those of hosts that leave, and lists them. */
  takeOut(isLeaving: (host: string) => boolean): [host: string, delayMs: number][] {
    const left = [...this.#delaysMs].filter(([host]) => isLeaving(host))
    for (const [host] of left) this.#delaysMs.delete(host)
    return left
  }
}
