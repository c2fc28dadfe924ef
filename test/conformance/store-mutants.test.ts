import { describe, expect, it } from 'vitest'
import { storeSuite } from '../../src/conformance/store.js'
import type { OpenStore, Store } from '../../src/stores/contract.js'
import { memory } from '../../src/stores/memory.js'
import { failuresOf } from './collect.js'

/** Changes what a memory store opens; the store is made anew for each case. */
function mutant(change: (opened: OpenStore) => Partial<OpenStore>, name = 'mutant'): () => Store {
  return () => ({
    name,
    async open(context) {
      const opened = await memory().open(context)
      return { ...opened, ...change(opened) }
    },
  })
}

const leaked: NodeJS.Timeout[] = []
const leak = () => void leaked.push(setInterval(() => {}, 1000))

const MUTANTS: Record<string, () => Store> = {
  'has no name': mutant(() => ({}), ' '),
  'opens the same parts each time': () => {
    let opened: OpenStore | undefined
    const inner = memory()
    return {
      name: 'mutant',
      async open(context) {
        opened ??= await inner.open(context)
        return opened
      },
    }
  },
  'does not tell the frontier about politeness': () => ({
    name: 'mutant',
    open: (context) =>
      memory().open({ ...context, politeness: { delayMs: 0, connections: 1, growAt: 1000 } }),
  }),
  'leaves a timer behind': mutant(() => {
    leak()
    return {}
  }),
  'leaves a timer behind if its parts were closed first': mutant((opened) => {
    let closed = false
    return {
      seen: {
        addAll: (urls) => opened.seen.addAll(urls),
        get size() {
          return opened.seen.size
        },
        close() {
          closed = true
          return opened.seen.close()
        },
      },
      async close() {
        if (closed) leak()
        await opened.close()
      },
    }
  }),
  'cannot be closed after its parts': mutant((opened) => {
    let closed = false
    return {
      frontier: Object.assign(Object.create(opened.frontier) as OpenStore['frontier'], {
        add: opened.frontier.add.bind(opened.frontier),
        close() {
          closed = true
        },
      }),
      close() {
        if (closed) throw new Error('closed already')
      },
    }
  }),
  'has a seen-set that forgets': mutant(() => ({
    seen: { size: 0, addAll: (urls) => urls.map(() => true), close() {} },
  })),
  'has a frontier that loses requests': mutant(({ frontier }) => ({
    frontier: {
      ...frontier,
      pending: 0,
      leased: 0,
      hosts: 0,
      add() {},
      lease: () => [],
      settle() {},
      nextDue: () => Number.POSITIVE_INFINITY,
      close() {},
    },
  })),
}

/** The parts have suites and mutants of their own; here a look at them is enough. */
const BRIEFLY = { urls: 1000, operations: 100 }

describe('the suite of stores', () => {
  it('passes the memory store', async () => {
    expect(await failuresOf((it) => storeSuite({ it, create: memory, ...BRIEFLY }))).toEqual([])
  })

  it('does not ask durable stores to forget', async () => {
    const names: string[] = []
    storeSuite({ it: (name) => names.push(name), create: memory, durable: true })
    expect(names.filter((name) => name.includes('are independent'))).toEqual([])
  })

  it.for(Object.entries(MUTANTS))('notices a store that %s', async ([, create]) => {
    const failures = await failuresOf((it) => storeSuite({ it, create, patienceMs: 100, ...BRIEFLY }))
    for (const timer of leaked.splice(0)) clearInterval(timer)
    expect(failures).not.toEqual([])
  })
})
