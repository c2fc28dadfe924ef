import { describe, expect, it } from 'vitest'
import type { Settlement } from '../../src/adapters.js'
import { durableStoreSuite } from '../../src/conformance/durable/durable.js'
import type { CrawlRequest } from '../../src/index.js'
import { knownAs } from '../../src/url/known-as.js'
import { failuresOf, isNoticed } from './collect.js'
import { type Entry, type Flaws, journalPlace } from './journal-store.js'

/** Changes each request on its way to the disk, wherever it comes from. */
const requests = (change: (request: CrawlRequest) => CrawlRequest): Flaws => ({
  entry(entry) {
    if (entry.kind === 'add') return [{ ...entry, request: change(entry.request) }]
    if (entry.kind !== 'settle') return [entry]
    const { found } = entry.settlement
    return [{ ...entry, settlement: { ...entry.settlement, found: found?.map(change) } }]
  },
})

const settlements = (change: (settlement: Settlement) => Settlement): Flaws => ({
  entry: (entry) =>
    entry.kind === 'settle' ? [{ ...entry, settlement: change(entry.settlement) }] : [entry],
})

const facts = (change: (fact: Entry & { kind: 'fact' }) => Entry[]): Flaws => ({
  entry: (entry) => (entry.kind === 'fact' ? change(entry) : [entry]),
})

/** Settlements without what they found, and what they found. */
function apart(batch: readonly Entry[]): { settled: Entry[]; found: Entry[] } {
  const found: Entry[] = []
  const settled = batch.map((entry): Entry => {
    if (entry.kind !== 'settle') return entry
    const { found: brought = [], ...settlement } = entry.settlement
    found.push(...brought.map((request) => ({ kind: 'add' as const, request })))
    return { kind: 'settle', settlement }
  })
  return { settled, found }
}

const hostOf = (entry: Entry) => {
  if (entry.kind === 'add') return entry.request.host
  return entry.kind === 'settle' ? entry.settlement.request.host : ''
}

const MUTANTS: Record<string, Flaws> = {
  'has no flush': { noFlush: 'at all' },
  'does not flush': { noFlush: 'done' },
  'does not write when it is closed': { noClose: true },
  'begins anew with each life': { found: (_, disk) => void disk.splice(0) },
  'loses the last of what it is to flush': { flush: (batch) => batch.slice(0, -1) },
  'loses the last of what it commits': {
    commit(batch, disk) {
      disk.push(batch.slice(0, -1))
      return []
    },
  },
  'forgets its names': { found: ({ names }) => names.clear() },
  'keeps names before their requests': { asked: (names) => names.map((name) => ({ kind: 'name', name })) },
  'knows a sitemap by its URL': { nameOf: ({ url }) => url },
  'forgets parents': requests((request) => ({ ...request, parent: undefined })),
  'forgets priorities': requests((request) => ({ ...request, priority: 0 })),
  'rounds priorities': requests((request) => ({ ...request, priority: Math.round(request.priority) })),
  'forgets the way of a redirect': requests((request) => ({ ...request, via: undefined })),
  'forgets hints': requests((request) => ({ ...request, hint: undefined })),
  'forgets purposes': requests((request) => ({ ...request, purpose: undefined })),
  'forgets extras': requests((request) => ({ ...request, extras: undefined })),
  'forgets labels': requests((request) => ({
    ...request,
    extras: request.extras && { ...request.extras, label: undefined },
  })),
  'writes bodies as one line': requests((request) => ({
    ...request,
    extras: request.extras && { ...request.extras, body: request.extras.body?.trimEnd() },
  })),
  'forgets the times that requests wait for': requests((request) => ({ ...request, notBefore: undefined })),
  'knows a POST by its URL': { nameOf: (request) => knownAs({ ...request, extras: undefined }) },
  'knows a request by its label too': {
    nameOf: (request) => `${request.extras?.label ?? ''}${knownAs(request)}`,
  },
  'turns the order of requests round': { found: ({ pending }) => void pending.reverse() },
  'forgets what is to be tried again': settlements(({ again: _, ...each }) => each),
  'forgets attempts': settlements((each) =>
    each.again ? { ...each, again: { ...each.again, attempt: each.request.attempt } } : each,
  ),
  'forgets the times of further tries': settlements((each) =>
    each.again ? { ...each, again: { ...each.again, at: 1 } } : each,
  ),
  'puts what is to be tried again at the end': {
    found({ pending }) {
      for (const waiting of pending) waiting.at = undefined
    },
  },
  'forgets what was found': settlements(({ found: _, ...each }) => each),
  'forgets visits': settlements((each) => ({ ...each, visitedAt: undefined })),
  'rounds visits to seconds': settlements((each) => ({
    ...each,
    visitedAt: each.visitedAt && Math.floor(each.visitedAt / 1000) * 1000,
  })),
  'forgets the instants that hosts named': settlements(({ hostNotBefore: _, ...each }) => each),
  'forgets the pauses that hosts asked for': settlements(({ hostDelayMs: _, ...each }) => each),
  'forgets the troubles of hosts': settlements(({ hostTrouble: _, ...each }) => each),
  'does not hear when troubles are over': settlements((each) =>
    each.hostTrouble?.incidents === 0 ? { ...each, hostTrouble: undefined } : each,
  ),
  'forgets hosts without requests': {
    found({ pending, hosts }) {
      for (const host of hosts.keys()) {
        if (!pending.some(({ request }) => request.host === host)) hosts.delete(host)
      }
    },
  },
  'lets one connection rest for all': { restingOnly: true },
  'keeps what was found a commit later than its settlement': {
    commit(batch, disk) {
      const { settled, found } = apart(batch)
      disk.push(settled)
      return found
    },
  },
  'keeps what was found a commit before its settlement': {
    commit(batch, disk) {
      const { found } = apart(batch)
      disk.push(found)
      return batch
    },
  },
  'keeps some hosts a commit later': {
    commit(batch, disk) {
      const isLate = (entry: Entry) => hostOf(entry) === 'h0.example'
      disk.push(batch.filter((entry) => !isLate(entry)))
      return batch.filter(isLate)
    },
  },
  'brings back what was done': {
    entry: (entry) => (entry.kind === 'settle' && entry.settlement.again === undefined ? [] : [entry]),
  },
  'loses what is leased': { leased: (request) => [{ kind: 'gone', request }] },
  'has something twice': {
    found: ({ pending }) => void (pending.length > 2 && pending.push(pending[0]!)),
  },
  'takes requests that are alike for one': {
    found(found) {
      const keyOf = ({ url, purpose }: CrawlRequest) => JSON.stringify([url, purpose])
      found.pending = [...new Map(found.pending.map((each) => [keyOf(each.request), each])).values()]
    },
  },
  'forgets facts': facts(() => []),
  'does not forget facts': facts((fact) => (fact.value === undefined ? [] : [fact])),
  'forgets the facts of hosts': facts((fact) => (fact.host === undefined ? [fact] : [])),
  'keeps facts a commit before all else': {
    commit(batch, disk) {
      const isFact = ({ kind }: Entry) => kind === 'fact'
      disk.push(batch.filter(isFact))
      return batch.filter((entry) => !isFact(entry))
    },
  },
  'keeps what came last first': {
    commit(batch, disk) {
      const half = Math.floor(batch.length / 2)
      disk.push(batch.slice(half))
      return batch.slice(0, half)
    },
  },
  'does not ask before a commit': { onCommit: 'never' },
  'asks after a commit': { onCommit: 'late' },
  'does not wait before a commit': { unprepared: 'early' },
  'writes what could not be prepared': { unprepared: 'failed' },
}

/** More than the default: half a commit is on disk for some milliseconds only. */
const ROUNDS = 25

describe('the suite of durable stores', () => {
  it('passes one that is sound', async () => {
    expect(await failuresOf((it) => durableStoreSuite({ it, create: journalPlace }))).toEqual([])
  })

  it('passes one that keeps no facts', async () => {
    const create = () => {
      const place = journalPlace()
      const without = ({ name, open }: typeof place.store): typeof place.store => ({
        name,
        async open(context) {
          const { state: _, onCommit: __, ...opened } = await open(context)
          return opened
        },
      })
      return { store: without(place.store), crash: async () => without(await place.crash()) }
    }
    expect(await failuresOf((it) => durableStoreSuite({ it, create, rounds: 5 }))).toEqual([])
  })

  it.for(Object.entries(MUTANTS))('notices a store that %s', async ([, flaws]) => {
    const create = () => journalPlace(flaws)
    expect(await isNoticed((it) => durableStoreSuite({ it, create, rounds: ROUNDS }))).toBe(true)
  })
})
