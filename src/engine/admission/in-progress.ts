/**
 * What is between the seen-set and the frontier: known already, and not pending yet. It is filled by whoever asks the
 * seen-set, and emptied when the frontier has what came of it. When a partition leaves, nothing of it may be in here: it
 * would be known where it goes, and pending nowhere.
 */
export class AdmissionsInProgress {
  readonly #inside = new Set<object>()
  #waiting: { readonly for: Set<object>; readonly done: () => void }[] = []

  enter(what: object): void {
    this.#inside.add(what)
  }

  leave(what: object): void {
    if (!this.#inside.delete(what) || this.#waiting.length === 0) return
    for (const each of this.#waiting) if (each.for.delete(what) && each.for.size === 0) each.done()
    this.#waiting = this.#waiting.filter((each) => each.for.size > 0)
  }

  /** Resolves once all that is inside now has left. */
  drained(): Promise<void> {
    if (this.#inside.size === 0) return Promise.resolve()
    return new Promise((done) => this.#waiting.push({ for: new Set(this.#inside), done }))
  }
}
