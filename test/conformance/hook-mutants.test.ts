import { describe, expect, it } from 'vitest'
import { hookSuite } from '../../src/conformance/hook.js'
import { pageOf } from '../../src/conformance/page.js'
import type { Page } from '../../src/extract/contract.js'
import type { Hook } from '../../src/hooks/contract.js'
import { failuresOf } from './collect.js'

const BODY = '<title>Hook</title><p>Text <a href="/next">next</a>'
const page = () => pageOf({ url: 'https://example.com/', body: BODY })

/** A hook that takes its time over each page, as one that writes to a database would. */
function collector(): Hook & { readonly titles: string[] } {
  const titles: string[] = []
  return {
    name: 'collector',
    titles,
    async page(given) {
      await Promise.resolve()
      titles.push(given.title)
    },
  }
}

const sharedLife = { open: 0 }

const MUTANTS: Record<string, () => Hook> = {
  'has no name': () => ({ ...collector(), name: '' }),
  'takes one page at a time': () => {
    let busy = false
    return {
      name: 'mutant',
      async page() {
        if (busy) throw new Error('busy')
        busy = true
        await Promise.resolve()
        busy = false
      },
    }
  },
  'changes the data of the page': () => ({
    name: 'mutant',
    page: (given) => void Object.assign(given.data, { indexed: true }),
  }),
  'changes the DOM of the page': () => ({
    name: 'mutant',
    page: (given) => void given.document.querySelector('a')?.remove(),
  }),
  'changes the bytes of the page': () => ({
    name: 'mutant',
    page: (given) => void given.body.fill(0x20, 0, 5),
  }),
  'cannot be closed before it had a page': () => {
    const rows: string[] = []
    return {
      name: 'mutant',
      page: (given) => void rows.push(given.url),
      close: () => void rows.at(0)!.length,
    }
  },
  'stays broken after a page that it could not take': () => {
    let working: Page | undefined
    return {
      name: 'mutant',
      page(given) {
        if (working !== undefined) throw new Error('still working')
        working = given
        String(given.title)
        working = undefined
      },
    }
  },
  'cannot be closed twice': () => {
    let rows: string[] | undefined
    return {
      name: 'mutant',
      open() {
        rows = []
      },
      close() {
        rows!.push('end')
        rows = undefined
      },
    }
  },
  'shares its life with others': () => ({
    name: 'mutant',
    open: () => void sharedLife.open++,
    page() {
      if (sharedLife.open === 0) throw new Error('closed')
    },
    close() {
      sharedLife.open = 0
    },
  }),
  'cannot be flushed before it had a page': () => {
    const rows: string[] = []
    return {
      name: 'mutant',
      page: (given) => void rows.push(given.url),
      flush: () => void rows.at(0)!.length,
    }
  },
  'can be flushed only once': () => {
    let rows: string[] | undefined = []
    return {
      name: 'mutant',
      page: () => {},
      flush() {
        rows!.push('end')
        rows = undefined
      },
    }
  },
  'takes no pages while it flushes': () => {
    let isFlushing = false
    return {
      name: 'mutant',
      page() {
        if (isFlushing) throw new Error('flushing')
      },
      async flush() {
        isFlushing = true
        await Promise.resolve()
        isFlushing = false
      },
    }
  },
  'refuses a page that it has had': () => {
    const had = new WeakSet<Page>()
    return {
      name: 'mutant',
      page(given) {
        if (had.has(given)) throw new Error('known')
        had.add(given)
      },
    }
  },
  'does not take redirects': () => ({
    name: 'mutant',
    redirect: ({ parent }) => void parent!.length,
  }),
  'does not take skips': () => ({ name: 'mutant', skip: ({ parent }) => void parent!.length }),
  'does not take exchanges without an address': () => ({
    name: 'mutant',
    exchange: ({ remoteAddress }) => void remoteAddress!.length,
  }),
  'asks for a queue without room': () => ({ name: 'mutant', page: () => {}, queue: { pages: 0 } }),
  'asks for a queue and takes no pages': () => ({ name: 'mutant', failure: () => {}, queue: {} }),
  'does not take failures': () => ({
    name: 'mutant',
    failure: ({ status }) => void status!.toFixed(),
  }),
}

describe('the suite of hooks', () => {
  it('passes one that collects titles, and one that does nothing', async () => {
    expect(await failuresOf((it) => hookSuite({ it, create: collector, page }))).toEqual([])
    expect(await failuresOf((it) => hookSuite({ it, create: () => ({ name: 'idle' }), page }))).toEqual([])
  })

  it('lets a hook throw at a page that it cannot take', async () => {
    const create = (): Hook => ({ name: 'strict', page: (given) => void given.document.title.length })
    expect(await failuresOf((it) => hookSuite({ it, create, page }))).toEqual([])
  })

  it.for(Object.entries(MUTANTS))('notices a hook that %s', async ([, create]) => {
    expect(await failuresOf((it) => hookSuite({ it, create, page }))).not.toEqual([])
  })
})
