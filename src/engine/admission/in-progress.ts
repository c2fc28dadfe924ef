/**
 * Work between the seen-set and the frontier: its URLs are already known and not yet pending. It is entered before the
 * seen-set is asked, and left when the frontier has the new requests. A partition must not move while it has URLs here:
 * its new owner would know them, and no frontier would contain them.
 */
export class AdmissionsInProgress {
  readonly #inside = new Set<object>()
  #waiting: { readonly for: Set<object>; readonly done: () => void }[] = []

  enter(work: object): void {
    this.#inside.add(work)
  }

  leave(work: object): void {
    if (!this.#inside.delete(work) || this.#waiting.length === 0) return
    for (const each of this.#waiting) if (each.for.delete(work) && each.for.size === 0) each.done()
    this.#waiting = this.#waiting.filter((each) => each.for.size > 0)
  }

  /** Resolves when everything that is inside now has left. */
  drained(): Promise<void> {
    if (this.#inside.size === 0) return Promise.resolve()
    return new Promise((done) => this.#waiting.push({ for: new Set(this.#inside), done }))
  }
}
