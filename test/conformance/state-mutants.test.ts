import { describe, expect, it } from 'vitest'
import { stateSuite } from '../../src/conformance/state.js'
import { storeSuite } from '../../src/conformance/store.js'
import type { StateSpace, StateStore } from '../../src/stores/contract.js'
import { memory } from '../../src/stores/memory.js'
import { memoryState } from '../../src/stores/memory-state.js'
import { failuresOf } from './collect.js'

/** Changes each space of a sound store; what is not changed goes on to it. */
function mutant(change: (inner: StateSpace, name: string) => Partial<StateSpace>): () => StateStore {
  return () => {
    const sound = memoryState()
    return {
      space(name) {
        const inner = sound.space(name)
        return { ...inner, ...change(inner, name) }
      },
    }
  }
}

type Named = [name: string, key: string, host?: string | undefined]

/** A sound store whose names, keys or hosts are changed on their way in. */
function misnaming(rename: (name: string, key: string, host?: string) => Named) {
  return (): StateStore => {
    const sound = memoryState()
    return {
      space: (name) => ({
        get(key, host) {
          const [there, as, of] = rename(name, key, host)
          return sound.space(there).get(as, of)
        },
        put(key, value, host) {
          const [there, as, of] = rename(name, key, host)
          sound.space(there).put(as, value, of)
        },
        delete(key, host) {
          const [there, as, of] = rename(name, key, host)
          sound.space(there).delete(as, of)
        },
        entries: () => sound.space(name).entries(),
      }),
    }
  }
}

const MUTANTS: Record<string, () => StateStore> = {
  'forgets everything': mutant(() => ({ put() {} })),
  'does not delete': mutant(() => ({ delete() {} })),
  'does not replace': mutant((inner) => ({
    put: (key, value, host) => void (inner.get(key, host) === undefined && inner.put(key, value, host)),
  })),
  'lists nothing': mutant(() => ({ async *entries() {} })),
  'lists only facts of no host': mutant((inner) => {
    const keys = new Set<string>()
    return {
      put(key, value, host) {
        if (host === undefined) keys.add(key)
        inner.put(key, value, host)
      },
      async *entries() {
        for (const key of keys) {
          const value = inner.get(key)
          if (value !== undefined) yield [key, value]
        }
      },
    }
  }),
  'lists only a hundred': mutant((inner) => ({
    async *entries() {
      let left = 100
      for await (const fact of inner.entries()) if (left-- > 0) yield fact
    },
  })),
  'knows a fact a moment later': mutant((inner) => ({
    put: (key, value, host) => queueMicrotask(() => inner.put(key, value, host)),
  })),
  'keeps the very object': () => {
    const facts = new Map<string, unknown>()
    const place = (...names: unknown[]) => JSON.stringify(names)
    return {
      space: (name) => ({
        get: (key, host) => facts.get(place(name, host, key)),
        put: (key, value, host) => void facts.set(place(name, host, key), value === undefined ? null : value),
        delete: (key, host) => void facts.delete(place(name, host, key)),
        async *entries() {
          for (const [at, value] of [...facts]) {
            const [there, , key] = JSON.parse(at) as [string, string, string]
            if (there === name) yield [key, value]
          }
        },
      }),
    }
  },
  'keeps text only': mutant((inner) => ({
    put: (key, value, host) => inner.put(key, typeof value === 'object' ? value : String(value), host),
  })),
  'forgets what is undefined': mutant((inner) => ({
    put: (key, value, host) => (value === undefined ? inner.delete(key, host) : inner.put(key, value, host)),
  })),
  'has one space': misnaming((_, key, host) => ['one', key, host]),
  'joins the name of a space and a key': misnaming((name, key, host) => ['one', `${name}:${key}`, host]),
  'does not see case': misnaming((name, key, host) => [name.toLowerCase(), key.toLowerCase(), host]),
  'trims keys': misnaming((name, key, host) => [name, key.trim(), host]),
  'shortens keys': misnaming((name, key, host) => [name, key.slice(0, 255), host]),
  'ends a key at a NUL': misnaming((name, key, host) => [name, key.split('\0')[0]!, host]),
  'has no hosts': misnaming((name, key) => [name, key]),
  'has only hosts': misnaming((name, key, host) => [name, key, host ?? 'a.example']),
  'does not see ports': misnaming((name, key, host) => [name, key, host?.split(':')[0]]),
  'joins a host and a key': misnaming((name, key, host) => [
    name,
    host === undefined ? key : `${host}\0${key}`,
  ]),
  'lists what is put meanwhile, without end': () => {
    const facts = new Map<string, unknown>()
    const place = (...names: unknown[]) => JSON.stringify(names)
    return {
      space: (name) => ({
        get: (key, host) => structuredClone(facts.get(place(name, host, key))),
        put: (key, value, host) =>
          void facts.set(place(name, host, key), JSON.parse(JSON.stringify(value ?? null))),
        delete: (key, host) => void facts.delete(place(name, host, key)),
        async *entries() {
          for (const [at, value] of facts) {
            const [there, , key] = JSON.parse(at) as [string, string, string]
            if (there === name) yield [key, structuredClone(value)]
          }
        },
      }),
    }
  },
}

describe('the suite of facts', () => {
  it('passes one that answers with promises', async () => {
    const create = mutant((inner) => ({ get: async (key, host) => inner.get(key, host) }))
    expect(await failuresOf((it) => stateSuite({ it, create }))).toEqual([])
  })

  it.for(Object.entries(MUTANTS))('notices a store that %s', async ([, create]) => {
    expect(await failuresOf((it) => stateSuite({ it, create }))).not.toEqual([])
  })

  it('is part of the suite of stores, for those that keep facts', async () => {
    const keeping = (state: () => StateStore) => () => ({
      name: 'keeping',
      open: async (context: Parameters<ReturnType<typeof memory>['open']>[0]) => ({
        ...(await memory().open(context)),
        state: state(),
      }),
    })
    const briefly = { urls: 100, operations: 10 }
    const sound = (it: (name: string, run: () => Promise<void>) => unknown) =>
      storeSuite({ it, create: keeping(memoryState), ...briefly })
    expect(await failuresOf(sound)).toEqual([])
    const broken = keeping(MUTANTS['does not delete']!)
    const failures = await failuresOf((it) => storeSuite({ it, create: broken, ...briefly }))
    expect(failures).not.toEqual([])
    expect(failures.filter((failure) => !failure.startsWith('state: '))).toEqual([])
  })
})
