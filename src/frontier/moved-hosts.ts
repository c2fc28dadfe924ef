/**
 * Hosts that move from one frontier to another, as data that can be posted to another thread. The data is in columns:
 * copying a million small objects takes seconds, and most of their fields would be equal.
 */

import type { CrawlRequest, HostTrouble } from '../types.js'
import type { Host } from './workbench.js'

export interface MovedHosts {
  readonly names: readonly string[]
  /** For each host the numbers that `packHost` writes. */
  readonly clocks: Float64Array
  /** Requests of all hosts, host by host. */
  readonly urls: readonly string[]
  /** `NUMBERS` numbers per request. */
  readonly numbers: Float64Array
  /** The pages on which requests were found, without duplicates. */
  readonly parents: readonly string[]
  /** Fields that few requests have, with the index of the request. */
  readonly rare: readonly (readonly [request: number, Rare])[]
}

type Rare = Pick<CrawlRequest, 'purpose' | 'via' | 'hint' | 'revisit' | 'extras'>

/** A host that arrives. */
export interface MovedHost {
  readonly name: string
  readonly notBefore: number
  readonly delayMs: number
  readonly trouble: HostTrouble | undefined
  readonly resting: readonly number[]
  readonly requests: readonly MovedRequest[]
}

export interface MovedRequest {
  readonly request: CrawlRequest
  /** As passed by `HostQueue.drain`. */
  readonly again: number | undefined
}

/** Stands for a number that is absent. */
const NONE = -1

/** Removes the requests of these hosts from their queues and packs them. */
export function packHosts(hosts: readonly Host[]): MovedHosts {
  const clocks: number[] = []
  const requests = new Requests(hosts.reduce((sum, { queue }) => sum + queue.size, 0))
  for (const host of hosts) {
    packHost(host, clocks)
    host.queue.drain((request, again) => requests.pack(request, again))
  }
  const { urls, numbers, parents, rare } = requests
  return {
    names: hosts.map(({ host }) => host),
    clocks: new Float64Array(clocks),
    urls,
    numbers,
    parents: [...parents.keys()],
    rare,
  }
}

function packHost({ notBefore, delayMs, trouble, queue, resting }: Host, clocks: number[]): void {
  const pauses = resting.filter((until) => until > 0)
  const { incidents, since } = trouble ?? { incidents: 0, since: 0 }
  clocks.push(notBefore, delayMs, incidents, since, queue.size, pauses.length, ...pauses)
}

/** Depth, priority, attempt, redirects, index of the parent, and `again`. */
const NUMBERS = 6

class Requests {
  readonly urls: string[] = []
  readonly numbers: Float64Array
  /** Parents and their indices. */
  readonly parents = new Map<string, number>()
  readonly rare: [number, Rare][] = []
  /** Requests found on one page are often adjacent. */
  #lastParent: string | undefined = undefined
  #lastNumber = NONE

  constructor(count: number) {
    this.numbers = new Float64Array(count * NUMBERS)
  }

  pack(request: CrawlRequest, again: number | undefined): void {
    const { url, depth, priority, attempt, redirects, parent, purpose, via, hint, revisit, extras } = request
    const { numbers } = this
    const at = this.urls.length * NUMBERS
    if (purpose || via || hint || extras || revisit !== undefined) {
      this.rare.push([this.urls.length, { purpose, via, hint, revisit, extras }])
    }
    this.urls.push(url)
    numbers[at] = depth
    numbers[at + 1] = priority
    numbers[at + 2] = attempt
    numbers[at + 3] = redirects
    numbers[at + 4] = this.#numberOf(parent)
    numbers[at + 5] = again ?? NONE
  }

  #numberOf(parent: string | undefined): number {
    if (parent === undefined) return NONE
    if (parent === this.#lastParent) return this.#lastNumber
    let number = this.parents.get(parent)
    if (number === undefined) {
      number = this.parents.size
      this.parents.set(parent, number)
    }
    this.#lastParent = parent
    this.#lastNumber = number
    return number
  }
}

/** The hosts, in the order in which they were packed. */
export function* unpackHosts(moved: MovedHosts): Generator<MovedHost> {
  const rare = new Map(moved.rare)
  let at = 0
  let unpacked = 0
  const next = () => moved.clocks[at++]!
  for (const name of moved.names) {
    const [notBefore, delayMs, incidents, since] = [next(), next(), next(), next()]
    const requests: MovedRequest[] = []
    for (let left = next(); left > 0; left--, unpacked++) {
      requests.push(unpackRequest(moved, unpacked, name, rare.get(unpacked)))
    }
    const resting: number[] = []
    for (let left = next(); left > 0; left--) resting.push(next())
    const trouble = incidents > 0 ? { incidents, since } : undefined
    yield { name, notBefore, delayMs, trouble, resting, requests }
  }
}

function unpackRequest(moved: MovedHosts, index: number, host: string, rare: Rare | undefined): MovedRequest {
  const { urls, numbers, parents } = moved
  const at = index * NUMBERS
  const again = numbers[at + 5]!
  const request = {
    url: urls[index]!,
    host,
    depth: numbers[at]!,
    priority: numbers[at + 1]!,
    attempt: numbers[at + 2]!,
    redirects: numbers[at + 3]!,
    parent: parents[numbers[at + 4]!],
    ...rare,
  }
  return { request, again: again === NONE ? undefined : again }
}
