/**
 * Random operations on a durable store, with crashes at random moments and real time between them, so that a commit may
 * happen anywhere. What each crash leaves is compared with the model. A seed replays the operations; the times of
 * commits are up to the store.
 */

import assert from 'node:assert/strict'
import type { Politeness, Settlement } from '../../frontier/contract.js'
import type { OpenStore, StateSpace } from '../../stores/contract.js'
import { type Random, seededRandom } from '../../time.js'
import type { CrawlRequest, MaybePromise } from '../../types.js'
import { knownAs } from '../../url/known-as.js'
import { fieldsOf, randomMore, rareFieldsOf } from '../frontier/fixtures.js'
import { pause } from '../suite.js'
import { SLACK_MS } from './fixtures.js'
import { clock, EVERYTHING, everything, type Lives } from './lives.js'
import { type Deed, History, type Remains } from './model.js'

const DELAY_MS = 30
const POLITENESS: Politeness = { delayMs: DELAY_MS, connections: 1, growAt: 1000 }
/** Few enough for requests to meet. */
const HOSTS = 6
/** The host that requests a longer delay at every visit, as robots.txt does. */
const SLOW_HOST = 'h1.example'
const SLOW_MS = 90
/** Longer than any pause, backoff or retry of a walk. */
const LONG_MS = 10_000
/** Long enough for most stores to commit on their own. */
const LONG_PAUSE_MS = 150
const FACTS = ['a', 'b', 'c']

/** Goes through `rounds` crashes, then visits what is left. */
export async function crashWalk(lives: Lives, seed: number, rounds: number): Promise<void> {
  const walk = new Walk(seededRandom(seed), lives)
  for (let round = 0; round < rounds; round++) await walk.live()
  await walk.finish()
}

class Walk {
  readonly #random: Random
  readonly #lives: Lives
  #history = new History(DELAY_MS)
  #opened: Awaited<ReturnType<Lives['open']>> | undefined = undefined
  #leased: CrawlRequest[] = []
  #isCrashing = false
  /** Every name that was passed to the seen-set. */
  readonly #asked = new Set<string>()
  #now = clock.now()

  constructor(random: Random, lives: Lives) {
    this.#random = random
    this.#lives = lives
  }

  /** One opening until its crash, and a check of what it left. */
  async live(): Promise<void> {
    this.#opened ??= await this.#lives.open(POLITENESS)
    for (let left = 5 + this.#upTo(40); left > 0; left--) await this.#step()
    // The process may die while an operation is in progress.
    const last = this.#chance(0.5) ? (await this.#deed())() : undefined
    this.#isCrashing = true
    const next = await this.#lives.crash(POLITENESS)
    await last?.catch(() => {})
    await this.#inspect(next)
    this.#opened = await this.#lives.crash(POLITENESS)
    this.#isCrashing = false
  }

  /** Visits everything that is left: what is done stays done after a crash. */
  async finish(): Promise<void> {
    const opened = await this.#lives.crash(EVERYTHING)
    this.#now += LONG_MS
    const left = await everything(opened.frontier, this.#now)
    await opened.frontier.settle(left.map((request) => ({ request, visitedAt: this.#now })))
    await opened.flush()
    const { frontier, seen } = await this.#lives.crash(EVERYTHING)
    assert.equal(
      frontier.pending,
      0,
      'number of requests that are pending again after everything was visited and flushed',
    )
    const names = [...this.#history.now.known]
    const fresh = await seen.addAll(names)
    assert.equal(
      names.find((_, i) => fresh[i]),
      undefined,
      'a name that was visited and flushed is new again',
    )
  }

  async #step(): Promise<void> {
    const dice = this.#random.next()
    if (dice < 0.55) await (await this.#deed())()
    else if (dice < 0.8) await this.#lease()
    else if (dice < 0.88) this.#now = Math.max(clock.now(), this.#now + this.#upTo(60))
    else if (dice < 0.98) await pause(this.#chance(0.1) ? LONG_PAUSE_MS : this.#upTo(5))
    else await this.#askInVain()
  }

  /** An operation that a crash may undo, ready to run. */
  async #deed(): Promise<() => Promise<void>> {
    const dice = this.#random.next()
    const { frontier, state } = this.#opened!
    if (dice < 0.3) {
      const requests = await this.#fresh(1 + this.#upTo(3))
      const deeds = requests.map((added) => ({ added }))
      return () => this.#do(deeds, () => frontier.add(requests))
    }
    if (dice < 0.8) return this.#settle()
    if (dice < 0.9 && state !== undefined) return this.#put(state.space('walk'))
    return () => this.#flush()
  }

  async #settle(): Promise<() => Promise<void>> {
    const { frontier } = this.#opened!
    const { pending } = this.#history.now
    const some = this.#leased.filter(() => this.#chance(0.6)).slice(0, 3)
    this.#leased = this.#leased.filter((request) => !some.includes(request))
    const settlements: Settlement[] = []
    for (const request of some) settlements.push(await this.#settlementOf(request))
    const deeds = settlements.map((each) => ({
      settled: { ...each, request: pending.get(knownAs(each.request))!.request },
    }))
    return () => this.#do(deeds, () => frontier.settle(settlements))
  }

  async #flush(): Promise<void> {
    const { calls } = this.#history
    await this.#opened!.flush()
    if (!this.#isCrashing) this.#history.flushed(calls)
  }

  async #settlementOf(request: CrawlRequest): Promise<Settlement> {
    const now = this.#now
    const found = this.#chance(0.5) ? await this.#fresh(1 + this.#upTo(3)) : undefined
    // A page with a link to itself, as with cookies: known, and added without asking the seen-set.
    const { url, host } = request
    const { extras } = request
    const itself = {
      ...fieldsOf(request),
      ...{ attempt: 0, redirects: request.redirects + 1, via: [url] },
      ...(extras && { extras }),
    }
    const circle = request.purpose === undefined && this.#chance(0.05)
    return {
      request,
      visitedAt: this.#chance(0.8) ? now - this.#upTo(5) : undefined,
      found: circle ? [itself] : found,
      ...(!circle &&
        this.#chance(0.2) && { again: { at: now + this.#upTo(3000), attempt: request.attempt + 1 } }),
      ...(this.#chance(0.05) && { hostNotBefore: now + this.#upTo(2000) }),
      ...(host === SLOW_HOST && { hostDelayMs: SLOW_MS }),
    }
  }

  #put(space: StateSpace): () => Promise<void> {
    const fact = FACTS[this.#upTo(FACTS.length)]!
    const host = fact === 'b' ? 'h0.example' : undefined
    const value = this.#chance(0.2) ? undefined : this.#random.next()
    const act = () => (value === undefined ? space.delete(fact, host) : space.put(fact, value, host))
    return () => this.#do([{ fact, value }], act)
  }

  /** Recorded before the store sees it, because a crash may happen at once. */
  async #do(deeds: readonly Deed[], act: () => MaybePromise<void>): Promise<void> {
    this.#history.did(deeds)
    await act()
  }

  async #lease(): Promise<void> {
    const leases = await this.#opened!.frontier.lease(1 + this.#upTo(5), this.#now)
    for (const lease of leases) {
      const name = knownAs(lease)
      assert.ok(this.#history.now.pending.has(name), `${name} was handed out, but is not pending`)
      assert.ok(!this.#leased.some((other) => knownAs(other) === name), `${name} was handed out twice`)
      this.#assertDue(lease, this.#history.now.dueAt(name))
      this.#leased.push(lease)
    }
  }

  /** Requests whose names were passed to the seen-set and are new. */
  async #fresh(count: number): Promise<CrawlRequest[]> {
    const requests = Array.from({ length: count }, () => this.#request())
    await this.#ask(requests.map(knownAs))
    return requests
  }

  #request(): CrawlRequest {
    const host = `h${this.#upTo(HOSTS)}.example`
    const url = `https://${host}/${this.#asked.size}-${Math.floor(this.#random.next() * 1e9)}`
    const purpose = { kind: 'sitemap', nested: 0, of: host } as const
    const parent = this.#chance(0.5) ? `https://${host}/` : undefined
    const plain = {
      url,
      host,
      depth: this.#upTo(9),
      priority: this.#upTo(3) - 1,
      attempt: 0,
      redirects: 0,
      parent,
    }
    if (this.#chance(0.1)) return { ...plain, purpose }
    return { ...plain, ...randomMore(this.#random, this.#now) }
  }

  /** Adds a name without its request: a visit that the crash interrupts between the two. */
  #askInVain(): Promise<void> {
    return this.#ask([knownAs(this.#request())])
  }

  async #ask(names: readonly string[]): Promise<void> {
    for (const name of names) this.#asked.add(name)
    const fresh = await this.#opened!.seen.addAll(names)
    assert.deepEqual(
      fresh,
      names.map(() => true),
      `new names, taken for known: ${names.join(' ')}`,
    )
  }

  /** Compares what was left with the model, and continues from the moment it was left at. */
  async #inspect({ frontier }: OpenStore): Promise<void> {
    const early = await frontier.lease(1000, this.#now)
    // A lease leaves no trace: what was just leased is pending after the next crash.
    const next = await this.#lives.crash(EVERYTHING)
    const { pending, leased, hosts } = next.frontier
    const names = [...this.#asked]
    const fresh = await next.seen.addAll(names)
    const known = new Set(names.filter((_, i) => !fresh[i]))
    const late = this.#now + LONG_MS
    const remains: Remains = {
      pending: await everything(next.frontier, late),
      known,
      facts: await factsOf(next),
    }
    const moment = this.#history.momentOf(remains)

    const counted = new Set(remains.pending.map(({ host }) => host)).size
    assert.deepEqual({ pending, leased, hosts }, { pending: moment.pending.size, leased: 0, hosts: counted })
    for (const request of remains.pending) {
      const expected = moment.pending.get(knownAs(request))!.request
      assert.deepEqual(fieldsOf(request), fieldsOf(expected))
      assert.deepEqual(rareFieldsOf(request), rareFieldsOf(expected))
    }
    for (const request of early) this.#assertDue(request, moment.dueAt(knownAs(request)))
    this.#history = new History(DELAY_MS, moment)
    this.#leased = []
    this.#now = late
  }

  #assertDue({ url }: CrawlRequest, dueAt: number): void {
    const early = dueAt - this.#now
    assert.ok(early <= SLACK_MS, `${url} was handed out ${early} ms too early`)
  }

  #upTo(limit: number): number {
    return Math.floor(this.#random.next() * limit)
  }

  #chance(share: number): boolean {
    return this.#random.next() < share
  }
}

async function factsOf({ state }: OpenStore): Promise<Map<string, unknown>> {
  const facts = new Map<string, unknown>()
  for await (const [key, value] of state?.space('walk').entries() ?? []) facts.set(key, value)
  return facts
}
