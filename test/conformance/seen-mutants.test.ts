import { describe, expect, it } from 'vitest'
import { seenStoreSuite } from '../../src/conformance/seen.js'
import type { SeenStore } from '../../src/seen/contract.js'
import { failuresOf } from './collect.js'

type Mutation = (known: Set<string>) => Partial<SeenStore>

function mutant(mutation: Mutation): SeenStore {
  const known = new Set<string>()
  const store = {
    addAll: (urls: readonly string[]) => urls.map((url) => addTo(known, url)),
    close() {},
  }
  const size = { get: () => known.size, enumerable: true, configurable: true }
  const changes = Object.getOwnPropertyDescriptors(mutation(known))
  return Object.defineProperties(store, { size, ...changes }) as unknown as SeenStore
}

function addTo(known: Set<string>, url: string): boolean {
  return known.size !== known.add(url).size
}

/** Good enough for a hash table of a few thousand, far too small for a seen-set. */
function hash32(text: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return String(hash)
}

const reused: boolean[] = []

const MUTANTS: Record<string, Mutation> = {
  'says new about everything': (known) => ({
    addAll: (urls) => urls.map((url) => addTo(known, url) || true),
  }),
  'says known about everything': (known) => ({
    addAll: (urls) => urls.map((url) => addTo(known, url) && false),
  }),
  'turns the answers round': (known) => ({ addAll: (urls) => urls.map((url) => !addTo(known, url)) }),
  'answers in the wrong order': (known) => ({
    addAll: (urls) => urls.map((url) => addTo(known, url)).toReversed(),
  }),
  'answers only with the new ones': (known) => ({
    addAll: (urls) => urls.map((url) => addTo(known, url)).filter(Boolean),
  }),
  'looks before it adds, so twins in one call are both new': (known) => ({
    addAll(urls) {
      const fresh = urls.map((url) => !known.has(url))
      for (const url of urls) known.add(url)
      return fresh
    },
  }),
  'waits between looking and adding': (known) => ({
    async addAll(urls) {
      const inThisCall = new Set<string>()
      const fresh = urls.map((url) => !known.has(url) && addTo(inThisCall, url))
      await Promise.resolve()
      for (const url of urls) known.add(url)
      return fresh
    },
  }),
  'keeps 32 bits': (known) => ({ addAll: (urls) => urls.map((url) => addTo(known, hash32(url))) }),
  'keeps the first 255 characters': (known) => ({
    addAll: (urls) => urls.map((url) => addTo(known, url.slice(0, 255))),
  }),
  'ignores case': (known) => ({ addAll: (urls) => urls.map((url) => addTo(known, url.toLowerCase())) }),
  'trims white space': (known) => ({ addAll: (urls) => urls.map((url) => addTo(known, url.trim())) }),
  'forgets when it is full': (known) => ({
    addAll: (urls) =>
      urls.map((url) => {
        const fresh = addTo(known, url)
        if (known.size > 100_000) known.clear()
        return fresh
      }),
  }),
  'is a plain object': () => {
    const known: Record<string, unknown> = {}
    let size = 0
    return {
      addAll: (urls) =>
        urls.map((url) => {
          if (url in known) return false
          known[url] = true
          size++
          return true
        }),
      get size() {
        return size
      },
    }
  },
  'hands out one array for all answers': (known) => ({
    addAll(urls) {
      reused.length = 0
      for (const url of urls) reused.push(addTo(known, url))
      return reused
    },
  }),
  'sorts what it is given': (known) => ({
    addAll: (urls) => (urls as string[]).sort().map((url) => addTo(known, url)),
  }),
  'counts calls instead of URLs': (known) => {
    let size = 0
    return {
      addAll(urls) {
        size += urls.length
        return urls.map((url) => addTo(known, url))
      },
      get size() {
        return size
      },
    }
  },
  'throws when closed twice': () => {
    let closed = false
    return {
      close() {
        if (closed) throw new Error('closed already')
        closed = true
      },
    }
  },
}

describe('the suite of seen-sets', () => {
  it('passes a plain set of strings', async () => {
    expect(await failuresOf((it) => seenStoreSuite({ it, create: () => mutant(() => ({})) }))).toEqual([])
  })

  it.for(Object.entries(MUTANTS))('notices a store that %s', async ([, mutation]) => {
    expect(await failuresOf((it) => seenStoreSuite({ it, create: () => mutant(mutation) }))).not.toEqual([])
  })
})
