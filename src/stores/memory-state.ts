import type { StateSpace, StateStore } from './contract.js'

/** By host, then by key; values are JSON. Records that belong to no host are under `undefined`. */
type Facts = Map<string | undefined, Map<string, string>>

/** Records of hosts in transit to another shard; values are JSON. */
export type MovedFacts = readonly (readonly [space: string, host: string, key: string, fact: string])[]

/** Records in memory that can move to another shard with their host. */
export interface MovableState extends StateStore {
  /** Removes and returns all records of hosts that leave. Records that belong to no host stay. */
  release(isLeaving: (host: string) => boolean): MovedFacts
  adopt(moved: MovedFacts): void
}

/** Records in memory, gone when the run is over. Values are copies, as they would be in a store on disk. */
export function memoryState(): StateStore {
  const { space } = movableState()
  return { space }
}

export function movableState(): MovableState {
  const spaces = new Map<string, { readonly space: StateSpace; readonly hosts: Facts }>()
  const known = (name: string) => {
    let known = spaces.get(name)
    if (known === undefined) {
      const hosts: Facts = new Map()
      known = { space: memorySpace(hosts), hosts }
      spaces.set(name, known)
    }
    return known
  }
  return {
    space: (name) => known(name).space,
    release(isLeaving) {
      const moved: [string, string, string, string][] = []
      for (const [name, { hosts }] of spaces) {
        for (const [host, facts] of hosts) {
          if (host === undefined || !isLeaving(host)) continue
          for (const [key, fact] of facts) moved.push([name, host, key, fact])
          hosts.delete(host)
        }
      }
      return moved
    },
    adopt(moved) {
      for (const [name, host, key, fact] of moved) keep(known(name).hosts, key, fact, host)
    },
  }
}

function memorySpace(hosts: Facts): StateSpace {
  return {
    get(key, host) {
      const fact = hosts.get(host)?.get(key)
      return fact === undefined ? undefined : JSON.parse(fact)
    },
    put: (key, value, host) => keep(hosts, key, JSON.stringify(value ?? null), host),
    delete: (key, host) => void hosts.get(host)?.delete(key),
    async *entries() {
      // A copy: the consumer may put more records while it iterates, and the iteration must still end.
      const all = [...hosts.values()].flatMap((facts) => [...facts])
      for (const [key, fact] of all) yield [key, JSON.parse(fact)]
    },
  }
}

function keep(hosts: Facts, key: string, fact: string, host: string | undefined): void {
  const facts = hosts.get(host) ?? new Map<string, string>()
  facts.set(key, fact)
  hosts.set(host, facts)
}

/** Stores nothing: for records of the crawl itself that only a later run would need. */
export const forgetful: StateStore = Object.freeze({
  space: () => ({
    get: () => undefined,
    put: () => {},
    delete: () => {},
    async *entries() {},
  }),
})
