import type { Journal } from '../db/journal.js'
import { entryKey, idleKey } from '../format/keys.js'
import type { TimeScale } from '../format/time-scale.js'
import type { LevelHost } from './level-host.js'

/** Where the records of hosts in memory lie on disk. Each has one: among the hosts with requests, or among the idle. */
export class HostRecords {
  readonly #journal: Journal
  readonly #scale: TimeScale
  readonly #touched: (partition: number) => void

  /** `touched` is told the partition of whatever is about to be written. */
  constructor(journal: Journal, scale: TimeScale, touched: (partition: number) => void) {
    this.#journal = journal
    this.#scale = scale
    this.#touched = touched
  }

  /** It has requests. Where it has had some all the time its record stays where it is. */
  writeActive(host: LevelHost, now: number): void {
    if (!isActive(host)) {
      if (host.key !== undefined) this.#journal.remove(host.key)
      host.key = entryKey(host.partition, this.#scale.toStore(now), host.host, host.turn)
    }
    this.#journal.put(host.key!, host)
    this.#touched(host.partitionNumber)
  }

  /** A host without requests is kept until its pause is over: then it is forgotten, and `remove` is called. */
  writeIdle(host: LevelHost): void {
    this.remove(host)
    host.key = idleKey(host.partition, host.host)
    this.#journal.put(host.key, host)
  }

  remove(host: LevelHost): void {
    if (host.key !== undefined) this.#journal.remove(host.key)
    host.key = undefined
    this.#touched(host.partitionNumber)
  }
}

/** Whether its record lies among those of hosts with requests. */
export function isActive(host: LevelHost): boolean {
  return host.key?.startsWith('q') === true
}
