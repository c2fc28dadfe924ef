/**
 * The simplest possible durable store: a list of operations. After a crash, a store must hold what it held at one
 * moment of that list, not before the last flush; the model finds the moment, or says what is wrong.
 */

import assert from 'node:assert/strict'
import type { Settlement } from '../../frontier/contract.js'
import type { CrawlRequest } from '../../types.js'
import { knownAs } from '../../url/known-as.js'

/** An operation that is kept completely or not at all. */
export type Deed =
  | { readonly added: CrawlRequest }
  | { readonly settled: Settlement }
  | { readonly fact: string; readonly value: unknown }

/** What was found after a crash. */
export interface Remains {
  readonly pending: readonly CrawlRequest[]
  readonly known: ReadonlySet<string>
  readonly facts: ReadonlyMap<string, unknown>
}

/** The content of a store at one moment. */
class Moment {
  readonly pending = new Map<string, { readonly request: CrawlRequest; readonly notBefore: number }>()
  readonly known = new Set<string>()
  readonly facts = new Map<string, unknown>()
  /** By host: no request of it is handed out before this time. */
  readonly notBefore = new Map<string, number>()

  copy(): Moment {
    const copy = new Moment()
    for (const [name, waiting] of this.pending) copy.pending.set(name, waiting)
    for (const name of this.known) copy.known.add(name)
    for (const [name, value] of this.facts) copy.facts.set(name, value)
    for (const [host, instant] of this.notBefore) copy.notBefore.set(host, instant)
    return copy
  }

  apply(deed: Deed, delayMs: number): void {
    if ('added' in deed) this.#add(deed.added)
    else if ('settled' in deed) this.#settle(deed.settled, delayMs)
    else if (deed.value === undefined) this.facts.delete(deed.fact)
    else this.facts.set(deed.fact, deed.value)
  }

  /** When a request of this name may be handed out; Infinity if it is not pending. */
  dueAt(name: string): number {
    const waiting = this.pending.get(name)
    if (waiting === undefined) return Number.POSITIVE_INFINITY
    return Math.max(waiting.notBefore, this.notBefore.get(waiting.request.host) ?? 0)
  }

  isLike({ pending, known, facts }: Remains): boolean {
    if (pending.length !== this.pending.size || known.size !== this.known.size) return false
    for (const request of pending) {
      const there = this.pending.get(knownAs(request))?.request
      // A request that was retried, or found itself, is the same except for these fields.
      if (there?.attempt !== request.attempt || there.redirects !== request.redirects) return false
    }
    for (const name of known) if (!this.known.has(name)) return false
    return facts.size === this.facts.size && [...facts].every(([name, fact]) => fact === this.facts.get(name))
  }

  #add(request: CrawlRequest, notBefore = request.notBefore ?? 0): void {
    this.pending.set(knownAs(request), { request, notBefore })
    this.known.add(knownAs(request))
  }

  #settle(
    { request, visitedAt, again, found, hostNotBefore, hostDelayMs }: Settlement,
    delayMs: number,
  ): void {
    const { host } = request
    const rested = visitedAt === undefined ? 0 : visitedAt + Math.max(delayMs, hostDelayMs ?? 0)
    this.notBefore.set(host, Math.max(this.notBefore.get(host) ?? 0, rested, hostNotBefore ?? 0))
    this.pending.delete(knownAs(request))
    if (again !== undefined) this.#add({ ...request, attempt: again.attempt }, again.at)
    for (const each of found ?? []) this.#add(each)
  }
}

/** All operations since the last crash, by call. */
export class History {
  readonly #delayMs: number
  /** What the last crash left. */
  #base: Moment
  #calls: (readonly Deed[])[] = []
  #flushed = 0
  /** What the store holds now. */
  now: Moment

  constructor(delayMs: number, base = new Moment()) {
    this.#delayMs = delayMs
    this.#base = base
    this.now = base.copy()
  }

  get calls(): number {
    return this.#calls.length
  }

  /** One call. If it is the last one that was kept, each of its operations may be kept or not. */
  did(deeds: readonly Deed[]): void {
    this.#calls.push(deeds)
    for (const deed of deeds) this.now.apply(deed, this.#delayMs)
  }

  /** The first `calls` calls would survive a crash. */
  flushed(calls: number): void {
    this.#flushed = Math.max(this.#flushed, calls)
  }

  /** The earliest moment that may have left this. Fails if there is none. */
  momentOf(remains: Remains): Moment {
    const names = remains.pending.map(knownAs)
    assert.equal(
      names.find((name, i) => names.indexOf(name) !== i),
      undefined,
      'the same request is pending twice',
    )
    const flushed = this.#base.copy()
    for (const call of this.#calls.slice(0, this.#flushed)) this.#apply(flushed, call)
    if (flushed.isLike(remains)) return flushed
    const moment = flushed.copy()
    for (const call of this.#calls.slice(this.#flushed)) {
      for (const some of subsets(call)) {
        const partly = moment.copy()
        this.#apply(partly, some)
        if (partly.isLike(remains)) return partly
      }
      this.#apply(moment, call)
    }
    this.#object(remains, flushed)
    assert.fail('what is left after the crash never existed at one moment: some of it is older, some newer')
  }

  /** Fails with a specific message, if what is wrong has a name. */
  #object({ pending, known, facts }: Remains, flushed: Moment): void {
    const names = pending.map(knownAs)
    const waiting = new Set(names)
    const deeds = this.#calls.flat()
    const settled = deeds.flatMap((deed) => ('settled' in deed ? [deed.settled] : []))
    const touched = new Set(settled.map(({ request }) => knownAs(request)))
    for (const name of names) assert.ok(known.has(name), `${name} is pending, but new to the seen-set`)
    for (const name of flushed.known) assert.ok(known.has(name), `${name} was flushed, but is new again`)
    for (const [name, { request }] of flushed.pending) {
      if (touched.has(name)) continue
      assert.ok(waiting.has(name), `${name} was pending at the flush, and is lost`)
      const { attempt } = pending.find((each) => knownAs(each) === name)!
      assert.equal(attempt, request.attempt, `the attempt of ${name}, which was flushed`)
    }
    for (const [fact, value] of flushed.facts) {
      if (deeds.some((deed) => 'fact' in deed && deed.fact === fact)) continue
      assert.equal(facts.get(fact), value, `the fact ${fact}, which was flushed`)
    }
    const ever = new Set([...this.#base.known, ...this.now.known])
    for (const name of known) {
      assert.ok(ever.has(name), `${name} is known, but its request was never added: it would be lost`)
      if (waiting.has(name) || touched.has(name)) continue
      assert.ok(
        !ever.has(name) || this.#isDone(name),
        `${name} is known and not pending, but was never visited`,
      )
    }
    for (const name of names) {
      assert.ok(
        !flushed.known.has(name) || flushed.pending.has(name),
        `${name} was done at the flush, and is pending again`,
      )
    }
    for (const settlement of settled) this.#objectToHalf(settlement, waiting, known)
  }

  /** Whether a name was known and done before the last crash. */
  #isDone(name: string): boolean {
    return this.#base.known.has(name) && !this.#base.pending.has(name)
  }

  #objectToHalf(
    { request, again, found = [] }: Settlement,
    waiting: Set<string>,
    known: ReadonlySet<string>,
  ): void {
    const name = knownAs(request)
    const brought = found.map(knownAs).filter((each) => !this.#base.known.has(each))
    if (again !== undefined || brought.length === 0 || found.some((each) => knownAs(each) === name)) return
    const came = brought.filter((each) => known.has(each)).length
    const isGone = known.has(name) && !waiting.has(name)
    const kept = `${name} was settled with ${brought.length} found requests`
    if (isGone) assert.equal(came, brought.length, `${kept}: it is done, so all of them must be there`)
    else assert.equal(came, 0, `${kept}: it is pending, so none of them may be there`)
  }

  #apply(moment: Moment, deeds: readonly Deed[]): void {
    for (const deed of deeds) moment.apply(deed, this.#delayMs)
  }
}

/** All subsets of a few elements, in order. */
function* subsets<T>(things: readonly T[]): Generator<T[]> {
  for (let chosen = 0; chosen < 2 ** things.length; chosen++) {
    yield things.filter((_, i) => chosen & (1 << i))
  }
}
