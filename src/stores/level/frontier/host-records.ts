import type { Journal } from '../db/journal.js'
import { entryKey, idleKey } from '../format/keys.js'
import type { TimeScale } from '../format/time-scale.js'
import type { LevelHost } from './level-host.js'

/** The records of hosts in memory. Each host has one: among the hosts with requests, or among the idle ones. */
export class HostRecords {
  readonly #journal: Journal
  readonly #scale: TimeScale
  readonly #touched: (partition: number) => void

  /** `touched` is called with the partition of whatever is about to be written. */
  constructor(journal: Journal, scale: TimeScale, touched: (partition: number) => void) {
    this.#journal = journal
    this.#scale = scale
    this.#touched = touched
  }

  /** The host has requests. If it already had some, its record stays where it is. */
  writeActive(host: LevelHost, now: number): void {
    if (!isActive(host)) {
      if (host.key !== undefined) this.#journal.remove(host.key)
      host.key = entryKey(host.partition, this.#scale.toStore(now), host.host, host.turn)
    }
    this.#journal.put(host.key!, host)
    this.#touched(host.partitionNumber)
  }

  /** A host without requests is kept until its delay is over; then it is forgotten, and `remove` is called. */
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

/** Whether its record is among those of hosts with requests. */
export function isActive(host: LevelHost): boolean {
  return host.key?.startsWith('q') === true
}
