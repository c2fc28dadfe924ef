/** The options of the store on disk, checked once. */

import { resolve } from 'node:path'
import { invalidOption } from '../../errors.js'
import { type Duration, parseDuration } from '../../time.js'

/** How a crawl on disk is kept. */
export interface LevelOptions {
  /**
   * What a commit survives. `process`: the end of the process, however sudden. `machine`: the end of the machine too;
   * each commit waits for the disk. Default `process`.
   */
  durability?: 'process' | 'machine' | undefined
  /** How much work a crash may undo at most. Default `'100ms'`. */
  commitEvery?: Duration | undefined
  /**
   * What to do with a crawl that is in the folder already. `auto`: go on with it. `never`: refuse the folder. `must`:
   * refuse a folder without one. Default `auto`.
   */
  resume?: 'auto' | 'never' | 'must' | undefined
  /** Hosts with requests that are held in memory; others wait on disk. Default 10,000: some 10 MB. */
  hostsInMemory?: number | undefined
  /** Requests of those hosts that are held in memory: a head of each host's. Default 50,000: some 25 MB. */
  requestsInMemory?: number | undefined
  /**
   * Fingerprints of known URLs in memory, some ten bytes each; beyond that those known longest are on disk, and take
   * ten bits. Default 24,000,000.
   */
  seenInMemory?: number | undefined
  /** Go on with what can be read of a damaged crawl. Default false: refuse it. */
  repair?: boolean | undefined
  /**
   * Look for damage in all tables before they are used, at some 1.3 s of CPU time for each GB. Default true. With false a
   * table that is damaged gives wrong records, or ends the process.
   */
  verify?: boolean | undefined
}

const DEFAULT_COMMIT_MS = 100
const DEFAULT_HOSTS_IN_MEMORY = 10_000
const DEFAULT_REQUESTS_IN_MEMORY = 50_000
const DEFAULT_SEEN_IN_MEMORY = 24_000_000

/** All of them, checked. */
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
      throw invalidOption(`level: ${name}`, value, 'a whole number from 1 on')
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
