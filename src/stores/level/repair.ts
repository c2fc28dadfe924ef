/**
 * Makes a whole crawl of what can be read of a damaged one: every request that is there is pending, its host is known to
 * have it, and the counts are what is there.
 */

import { Named } from '../../seen/named.js'
import type { Database, Staged } from './database.js'
import { commitKey, entryKey, entryOf, fromOrdered, META } from './keys.js'
import type { Meta } from './meta.js'
import { FORMAT } from './migrations.js'
import { readHost, writeHost } from './records.js'

/** Changes that are written at once. */
const PORTION = 10_000
const PRINT_BYTES = 8
const SEQ_DIGITS = 9

/** `told` is the number of commits that there should be. Undefined if nothing of a crawl is left. */
export async function mend(
  database: Database,
  meta: Meta | undefined,
  identity: Readonly<Record<string, string>>,
  told: number,
): Promise<Meta | undefined> {
  const changes = new Portions(database)
  const withLater = new Named()
  const later = await countRequests(database, 'l', (_, host) => withLater.add(host))
  const listed = await mendEntries(database, changes, withLater)
  const addMissing = async (partition: string, host: string) => {
    if (listed.has(host)) return
    listed.add(host)
    const record = writeHost({ ...readHost(''), hasLater: withLater.has(host) })
    await changes.put(entryKey(partition, 0, host), record)
  }
  const due = await countRequests(database, 'p', addMissing)
  if (later.count > 0) await countRequests(database, 'l', addMissing)
  const known = await countPrints(database)
  if (meta === undefined && due.count + later.count + known === 0) return undefined
  const commit = Math.max(meta?.commit ?? 0, told) + 1
  for await (const keys of database.scanKeys({ from: 'j', to: 'k' })) {
    for (const key of keys) await changes.put(key, null)
  }
  await changes.put(commitKey(commit), '')
  const seq = Math.max(meta?.seq ?? 0, due.nextSeq, later.nextSeq)
  const pending = due.count + later.count
  const whole: Meta = {
    ...(meta ?? { at: 0, identity }),
    format: FORMAT,
    pending,
    known,
    seq,
    commit,
    marksFrom: commit,
  }
  await changes.put(META, JSON.stringify(whole))
  await changes.write()
  return whole
}

/** Tells each host of the range once. */
async function countRequests(
  database: Database,
  kind: 'p' | 'l',
  each: (partition: string, host: string) => unknown,
): Promise<{ count: number; nextSeq: number }> {
  let count = 0
  let nextSeq = 0
  let last = ''
  for await (const keys of database.scanKeys({ from: kind, to: kind === 'p' ? 'q' : 'm' })) {
    for (const key of keys) {
      count++
      nextSeq = Math.max(nextSeq, fromOrdered(key.slice(-SEQ_DIGITS)) + 1)
      const prefix = key.slice(1, key.indexOf('\0'))
      if (prefix === last) continue
      last = prefix
      await each(prefix.slice(0, 4), prefix.slice(4))
    }
  }
  return { count, nextSeq }
}

/** The hosts that have an entry. Entries say from now on whether there are requests with a time of their own. */
async function mendEntries(database: Database, changes: Portions, withLater: Named): Promise<Named> {
  const listed = new Named()
  for await (const entries of database.scan({ from: 'q', to: 'r' })) {
    for (const [key, record] of entries) {
      const { host, wakes } = entryOf(key)
      if (wakes) continue
      listed.add(host)
      const known = readHost(record)
      if (withLater.has(host) && !known.hasLater) {
        await changes.put(key, writeHost({ ...known, hasLater: true }))
      }
    }
  }
  return listed
}

async function countPrints(database: Database): Promise<number> {
  let bytes = 0
  for (const range of [
    { from: 's', to: 't' },
    { from: 'f', to: 'g' },
  ]) {
    for await (const entries of database.scanBytes(range)) {
      for (const [, value] of entries) bytes += value.length
    }
  }
  return bytes / PRINT_BYTES
}

/** Changes of any number, written some at a time. */
class Portions {
  readonly #database: Database
  #values = new Map<string, Staged>()

  constructor(database: Database) {
    this.#database = database
  }

  async put(key: string, value: Staged): Promise<void> {
    this.#values.set(key, value)
    if (this.#values.size >= PORTION) await this.write()
  }

  async write(): Promise<void> {
    await this.#database.write({ values: this.#values, once: [] })
    this.#values = new Map()
  }
}
