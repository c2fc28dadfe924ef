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
  const facts = new Map<string, string>()
  const place = (key: string, host: string | undefined) => (host === undefined ? key : `${host}\0${key}`)
  return {
    get(key, host) {
      const fact = facts.get(place(key, host))
      return fact === undefined ? undefined : JSON.parse(fact)
    },
    put: (key, value, host) => void facts.set(place(key, host), JSON.stringify(value ?? null)),
    delete: (key, host) => void facts.delete(place(key, host)),
    async *entries() {
      for (const [name, fact] of facts) yield [name.slice(name.indexOf('\0') + 1), JSON.parse(fact)]
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
