/**
 * Maximum number of forgotten hosts whose delay is remembered. Beyond it the oldest entry is dropped, and that host
 * asks for its delay again.
 */
const MAX_REMEMBERED = 100_000

/**
 * The delays that hosts had requested when the frontier forgot them. Only those that differ from the default are kept.
 */
export class RequestedDelays {
  readonly #delaysMs = new Map<string, number>()

  /** 0: no delay is known. */
  of(host: string): number {
    return this.#delaysMs.get(host) ?? 0
  }

  remember(host: string, delayMs: number): void {
    this.#delaysMs.set(host, delayMs)
    if (this.#delaysMs.size > MAX_REMEMBERED)
      this.#delaysMs.delete(this.#delaysMs.keys().next().value as string)
  }

  forget(host: string): void {
    this.#delaysMs.delete(host)
  }

  /** Removes and returns the delays of the hosts that leave. */
  removeWhere(isLeaving: (host: string) => boolean): [host: string, delayMs: number][] {
    const left = [...this.#delaysMs].filter(([host]) => isLeaving(host))
    for (const [host] of left) this.#delaysMs.delete(host)
    return left
  }
}
