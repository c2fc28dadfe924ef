/** The options of the level store, validated once. */

import { resolve } from 'node:path'
import { invalidOption } from '../../errors.js'
import { type Duration, parseDuration } from '../../time.js'

/** How a crawl is stored on disk. */
export interface LevelOptions {
  /**
   * What a commit survives. `process`: a crash of the process. `machine`: a crash of the machine too, because each
   * commit waits for the disk. Default `process`.
   */
  durability?: 'process' | 'machine' | undefined
  /** The most work that a crash can undo. Default `'100ms'`. */
  commitEvery?: Duration | undefined
  /**
   * What to do if the folder already holds a crawl. `auto`: resume it. `never`: refuse the folder. `must`: refuse a
   * folder that holds none. Default `auto`.
   */
  resume?: 'auto' | 'never' | 'must' | undefined
  /** Hosts with pending requests that are held in memory; the others wait on disk. Default 10,000, about 10 MB. */
  hostsInMemory?: number | undefined
  /** Pending requests of those hosts that are held in memory, shared among the hosts. Default 50,000, about 25 MB. */
  requestsInMemory?: number | undefined
  /**
   * Fingerprints of seen URLs that are held in memory, about ten bytes each. Beyond that the oldest move to disk and
   * cost ten bits each. Default 24,000,000.
   */
  seenInMemory?: number | undefined
  /** Repair a damaged crawl and resume with what can be read. Default false: refuse to open it. */
  repair?: boolean | undefined
  /**
   * Check all tables for damage before using them, at about 1.3 s of CPU time per GB. Default true. With false, a
   * damaged table may return wrong records or crash the process.
   */
  verify?: boolean | undefined
}

const DEFAULT_COMMIT_MS = 100
const DEFAULT_HOSTS_IN_MEMORY = 10_000
const DEFAULT_REQUESTS_IN_MEMORY = 50_000
const DEFAULT_SEEN_IN_MEMORY = 24_000_000

/** All options, validated. */
export type Settings = {
  readonly [K in Exclude<keyof LevelOptions, 'commitEvery'>]-?: NonNullable<LevelOptions[K]>
} & {
  readonly path: string
  readonly commitMs: number
}

export function check(path: string, options: LevelOptions): Settings {
  if (typeof path !== 'string' || path === '')
    throw invalidOption('level: path', path, 'the path of a folder')
  if (typeof options !== 'object' || options === null) {
    throw invalidOption('level: options', options, "an object such as { resume: 'must' }")
  }
  const known = [
    'durability',
    'commitEvery',
    'resume',
    'hostsInMemory',
    'requestsInMemory',
    'seenInMemory',
    'repair',
    'verify',
  ]
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw invalidOption('level: option', name, known.join(', '))
  }
  const { durability = 'process', resume = 'auto', repair = false, verify = true } = options
  const { commitEvery = DEFAULT_COMMIT_MS, hostsInMemory = DEFAULT_HOSTS_IN_MEMORY } = options
  if (durability !== 'process' && durability !== 'machine') {
    throw invalidOption('level: durability', durability, "'process' or 'machine'")
  }
  if (!['auto', 'never', 'must'].includes(resume))
    throw invalidOption('level: resume', resume, "'auto', 'never' or 'must'")
  for (const [name, value] of Object.entries({ repair, verify })) {
    if (typeof value !== 'boolean') throw invalidOption(`level: ${name}`, value, 'true or false')
  }
  const commitMs = parseDuration(commitEvery)
  if (commitMs === undefined || commitMs > 60_000) {
    throw invalidOption('level: commitEvery', commitEvery, "a duration up to a minute, such as '100ms'")
  }
  const { requestsInMemory = DEFAULT_REQUESTS_IN_MEMORY, seenInMemory = DEFAULT_SEEN_IN_MEMORY } = options
  for (const [name, value] of Object.entries({ hostsInMemory, requestsInMemory, seenInMemory })) {
    if (!Number.isInteger(value) || value < 1)
      throw invalidOption(`level: ${name}`, value, 'a whole number, 1 or more')
  }
  return {
    path: resolve(path),
    durability,
    resume,
    repair,
    verify,
    commitMs,
    hostsInMemory,
    requestsInMemory,
    seenInMemory,
  }
}
