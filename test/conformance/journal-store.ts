/**
 * A durable store on a disk that is an array: sound as it stands, and broken in one way by each of its flaws, to see
 * whether the suite of durable stores notices.
 */

import type { DurablePlace } from '../../src/conformance/durable/lives.js'
import type { Frontier, Politeness, Settlement } from '../../src/frontier/contract.js'
import { memoryFrontier } from '../../src/frontier/memory.js'
import { fingerprintTable } from '../../src/seen/table.js'
import type { OpenStore, StateStore, Store, StoreContext } from '../../src/stores/contract.js'
import { memoryState } from '../../src/stores/memory-state.js'
import type { CrawlRequest, MaybePromise } from '../../src/types.js'
import { knownAs } from '../../src/url/known-as.js'

export type Entry =
  | { kind: 'add'; request: CrawlRequest }
  | { kind: 'settle'; settlement: Settlement }
  | { kind: 'fact'; space: string; host: string | undefined; key: string; value: unknown }
  /** Only flaws write these two. */
  | { kind: 'name'; name: string }
  | { kind: 'gone'; request: CrawlRequest }

export type Disk = Entry[][]

/** What a store finds when it opens. */
export interface Found {
  pending: { request: CrawlRequest; at: number | undefined }[]
  hosts: Map<string, Omit<Settlement, 'request'>>
  names: Set<string>
}

/** Ways to be wrong. Whatever is absent is done right. */
export interface Flaws {
  /** What becomes of an entry on its way to the disk. */
  entry?(entry: Entry): Entry[]
  /** Writes a batch of its own accord; answers with what is left for the next. What is flushed is always whole. */
  commit?(batch: Entry[], disk: Disk): Entry[]
  /** Writes only this of what it is asked to flush. */
  flush?(batch: Entry[]): Entry[]
  /** Changes what was found at the opening. */
  found?(found: Found, disk: Disk): void
  nameOf?(request: CrawlRequest): string
  asked?(names: readonly string[]): Entry[]
  leased?(request: CrawlRequest): Entry[]
  noFlush?: 'at all' | 'done'
  noClose?: boolean
  onCommit?: 'never' | 'late'
  /** It does not wait for what is registered, or writes although that failed. */
  unprepared?: 'early' | 'failed'
  restingOnly?: boolean
}

const COMMIT_MS = 8

export function journalPlace(flaws: Flaws = {}): DurablePlace {
  let disk: Disk = []
  return {
    store: journalStore(disk, flaws),
    crash() {
      disk = structuredClone(disk)
      return journalStore(disk, flaws)
    },
  }
}

function journalStore(disk: Disk, flaws: Flaws): Store {
  return { name: 'journal', open: (context) => open(disk, flaws, context) }
}

function open(disk: Disk, flaws: Flaws, { politeness, policy, clock }: StoreContext): OpenStore {
  const found = replay(disk, flaws)
  flaws.found?.(found, disk)
  const inner = memoryFrontier({ politeness, policy })
  restore(inner, found, politeness, flaws)
  const known = fingerprintTable()
  known.addAll([...found.names])
  const facts = memoryState()
  for (const entry of disk.flat()) if (entry.kind === 'fact') put(facts, entry)

  const writers: (() => void)[] = []
  let stage: Entry[] = []
  let timer: { cancel(): void } | undefined
  const commit = (isAsked = false) => {
    timer?.cancel()
    timer = undefined
    if (flaws.onCommit === undefined) for (const write of writers) write()
    const batch = stage
    stage = []
    if (isAsked) disk.push(flaws.flush?.(batch) ?? batch)
    else if (flaws.commit === undefined) disk.push(batch)
    else stage = flaws.commit(batch, disk)
    if (stage.length > 0) arm()
    if (flaws.onCommit === 'late') for (const write of writers) write()
  }
  let prepare: (() => MaybePromise<void>) | undefined
  let failure: Error | undefined
  /** Its content is fixed before it is prepared. */
  const commitPrepared = async () => {
    timer?.cancel()
    timer = undefined
    const batch = stage
    stage = []
    if (flaws.unprepared === 'early') disk.push(batch)
    try {
      if (failure !== undefined) throw failure
      await prepare!()
    } catch (error) {
      failure ??= error as Error
      if (flaws.unprepared === 'failed') disk.push(batch)
      throw error
    }
    if (flaws.unprepared !== 'early') disk.push(batch)
  }
  const commitInTime = () => (prepare === undefined ? commit() : void commitPrepared().catch(() => {}))
  const arm = () => {
    timer ??= clock.wakeAt(clock.now() + COMMIT_MS, commitInTime)
  }
  const record = (...entries: Entry[]) => {
    for (const entry of structuredClone(entries)) stage.push(...(flaws.entry?.(entry) ?? [entry]))
    arm()
  }
  return {
    frontier: {
      add(requests) {
        record(...requests.map((request) => ({ kind: 'add' as const, request })))
        inner.add(requests)
      },
      lease(max, now) {
        const leases = inner.lease(max, now) as CrawlRequest[]
        const entries = leases.flatMap((request) => flaws.leased?.(plain(request)) ?? [])
        if (entries.length > 0) record(...entries)
        return leases
      },
      settle(settlements) {
        // The settlement of a request that is not leased must leave no trace.
        for (const settlement of settlements) {
          const { leased } = inner
          inner.settle([settlement])
          if (inner.leased === leased) continue
          record({ kind: 'settle', settlement: { ...settlement, request: plain(settlement.request) } })
        }
      },
      nextDue: () => inner.nextDue(),
      get pending() {
        return inner.pending
      },
      get leased() {
        return inner.leased
      },
      get hosts() {
        return inner.hosts
      },
      close() {},
    },
    seen: {
      addAll(names) {
        const entries = flaws.asked?.(names) ?? []
        if (entries.length > 0) record(...entries)
        return known.addAll(names)
      },
      get size() {
        return known.size
      },
      close() {},
    },
    state: recording(facts, record),
    ...(flaws.noFlush !== 'at all' && {
      async flush() {
        await Promise.resolve()
        if (flaws.noFlush !== undefined) return
        if (prepare === undefined) commit(true)
        else if (flaws.unprepared === 'early') void commitPrepared().catch(() => {})
        else await commitPrepared()
      },
    }),
    beforeCommit: (register) => {
      prepare = register
    },
    condition: () => (failure === undefined ? { state: 'ok' } : { state: 'paused', failure }),
    onCommit: (write) => void (flaws.onCommit !== 'never' && writers.push(write)),
    close() {
      timer?.cancel()
      if (flaws.noClose !== true && stage.length > 0 && failure === undefined) commit(true)
    },
  }
}

function replay(disk: Disk, { nameOf = knownAs }: Flaws): Found {
  const pending: Found['pending'] = []
  const hosts: Found['hosts'] = new Map()
  const names = new Set<string>()
  const add = (request: CrawlRequest, at?: number) => {
    pending.push({ request, at })
    names.add(nameOf(request))
  }
  const remove = (request: CrawlRequest) => {
    const place = pending.findIndex((waiting) => keyOf(waiting.request) === keyOf(request))
    if (place >= 0) pending.splice(place, 1)
  }
  for (const entry of disk.flat()) {
    if (entry.kind === 'add') add(entry.request)
    else if (entry.kind === 'name') names.add(entry.name)
    else if (entry.kind === 'gone') remove(entry.request)
    else if (entry.kind === 'settle') {
      const { request, again, found = [], ...clock } = entry.settlement
      remove(request)
      if (again !== undefined) add({ ...request, attempt: again.attempt }, again.at)
      for (const each of found) add(each)
      hosts.set(request.host, later(hosts.get(request.host), clock))
    }
  }
  return { pending, hosts, names }
}

type HostClock = Omit<Settlement, 'request'>

function later(before: HostClock | undefined, now: HostClock): HostClock {
  const most = (a: number | undefined, b: number | undefined) =>
    a === undefined && b === undefined ? undefined : Math.max(a ?? 0, b ?? 0)
  return {
    visitedAt: most(before?.visitedAt, now.visitedAt),
    hostNotBefore: most(before?.hostNotBefore, now.hostNotBefore),
    hostDelayMs: now.hostDelayMs ?? before?.hostDelayMs,
    hostTrouble: now.hostTrouble ?? before?.hostTrouble,
  }
}

/** The clock of a host is moved by settlements only, so each host makes a visit for the sake of its clock. */
function restore(
  frontier: Frontier,
  { pending, hosts }: Found,
  { delayMs }: Politeness,
  { restingOnly }: Flaws,
): void {
  const lease = (count: number) => frontier.lease(count, 0) as CrawlRequest[]
  for (const { request, at } of pending) {
    if (at === undefined) continue
    frontier.add([request])
    const again = { at, attempt: request.attempt }
    frontier.settle(lease(1).map((leased) => ({ request: leased, visitedAt: undefined, again })))
  }
  frontier.add([...hosts.keys()].map((host) => ({ ...BLANK, url: `https://${host}/`, host })))
  const visits = lease(hosts.size)
  frontier.add(pending.filter(({ at }) => at === undefined).map(({ request }) => request))
  frontier.settle(
    visits.map((request) => {
      const { visitedAt, hostNotBefore = 0, ...clock } = hosts.get(request.host)!
      if (restingOnly) return { request, ...clock, visitedAt, hostNotBefore }
      const rested = visitedAt === undefined ? 0 : visitedAt + Math.max(delayMs, clock.hostDelayMs ?? 0)
      return { request, ...clock, visitedAt: undefined, hostNotBefore: Math.max(hostNotBefore, rested) }
    }),
  )
}

const BLANK = { depth: 0, priority: 0, attempt: 0, redirects: 0, parent: undefined }

/** Facts that are written down as they are put. */
function recording(facts: StateStore, record: (entry: Entry) => void): StateStore {
  return {
    space(space) {
      const inner = facts.space(space)
      return {
        get: (key, host) => inner.get(key, host),
        put(key, value, host) {
          inner.put(key, value, host)
          record({ kind: 'fact', space, host, key, value: value ?? null })
        },
        delete(key, host) {
          inner.delete(key, host)
          record({ kind: 'fact', space, host, key, value: undefined })
        },
        entries: () => inner.entries(),
      }
    },
  }
}

function put(facts: StateStore, { space, host, key, value }: Entry & { kind: 'fact' }): void {
  if (value === undefined) facts.space(space).delete(key, host)
  else facts.space(space).put(key, value, host)
}

/** A leased request may be an object of the frontier's own. */
function plain(request: CrawlRequest): CrawlRequest {
  const { url, host, depth, priority, attempt, redirects, parent, purpose, via, hint, extras } = request
  return { url, host, depth, priority, attempt, redirects, parent, purpose, via, hint, extras }
}

function keyOf({ url, purpose, extras }: CrawlRequest): string {
  return JSON.stringify([url, purpose, extras])
}
