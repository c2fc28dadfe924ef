import type { StateSpace, StateStore } from './contract.js'

/** Facts in memory, gone when the run is over. Values are copies, as they would be in a store on disk. */
export function memoryState(): StateStore {
  const spaces = new Map<string, StateSpace>()
  return {
    space(name) {
      let space = spaces.get(name)
      if (space === undefined) {
        space = memorySpace()
        spaces.set(name, space)
      }
      return space
    },
  }
}

function memorySpace(): StateSpace {
  /** By host, then by key. Under undefined: facts that belong to no host. */
  const hosts = new Map<string | undefined, Map<string, string>>()
  return {
    get(key, host) {
      const fact = hosts.get(host)?.get(key)
      return fact === undefined ? undefined : JSON.parse(fact)
    },
    put(key, value, host) {
      const facts = hosts.get(host) ?? new Map<string, string>()
      facts.set(key, JSON.stringify(value ?? null))
      hosts.set(host, facts)
    },
    delete: (key, host) => void hosts.get(host)?.delete(key),
    async *entries() {
      // A copy: whoever reads may put more, and must come to an end.
      const all = [...hosts.values()].flatMap((facts) => [...facts])
      for (const [key, fact] of all) yield [key, JSON.parse(fact)]
    },
  }
}

/** Remembers nothing: for what the crawl itself would only need to know in a later run. */
export const forgetful: StateStore = Object.freeze({
  space: () => ({
    get: () => undefined,
    put: () => {},
    delete: () => {},
    async *entries() {},
  }),
})
