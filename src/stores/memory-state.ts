import type { StateSpace, StateStore } from './contract.js'

/** By host, then by key; values are JSON. Records that belong to no host are under `undefined`. */
type RecordsByHost = Map<string | undefined, Map<string, string>>

/** Records of hosts in transit to another shard; values are JSON. */
export type MovedRecords = readonly (readonly [space: string, host: string, key: string, record: string])[]

/** Records in memory that can move to another shard with their host. */
export interface MovableState extends StateStore {
  /** Removes and returns all records of hosts that leave. Records that belong to no host stay. */
  release(isLeaving: (host: string) => boolean): MovedRecords
  adopt(moved: MovedRecords): void
}

/** Records in memory, gone when the run is over. Values are copies, as they would be in a store on disk. */
export function memoryState(): StateStore {
  const { space } = movableState()
  return { space }
}

export function movableState(): MovableState {
  const spaces = new Map<string, { readonly space: StateSpace; readonly hosts: RecordsByHost }>()
  const known = (name: string) => {
    let known = spaces.get(name)
    if (known === undefined) {
      const hosts: RecordsByHost = new Map()
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
        for (const [host, records] of hosts) {
          if (host === undefined || !isLeaving(host)) continue
          for (const [key, record] of records) moved.push([name, host, key, record])
          hosts.delete(host)
        }
      }
      return moved
    },
    adopt(moved) {
      for (const [name, host, key, record] of moved) keep(known(name).hosts, key, record, host)
    },
  }
}

function memorySpace(hosts: RecordsByHost): StateSpace {
  return {
    get(key, host) {
      const record = hosts.get(host)?.get(key)
      return record === undefined ? undefined : JSON.parse(record)
    },
    put: (key, value, host) => keep(hosts, key, JSON.stringify(value ?? null), host),
    delete: (key, host) => void hosts.get(host)?.delete(key),
    async *entries() {
      // A copy: the consumer may put more records while it iterates, and the iteration must still end.
      const all = [...hosts.values()].flatMap((records) => [...records])
      for (const [key, record] of all) yield [key, JSON.parse(record)]
    },
  }
}

function keep(hosts: RecordsByHost, key: string, record: string, host: string | undefined): void {
  const records = hosts.get(host) ?? new Map<string, string>()
  records.set(key, record)
  hosts.set(host, records)
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
