/**
 * The hosts file, which the system resolver honors and a DNS client does not. It is read at the first lookup, and again
 * when it has changed. A lookup that triggers a check does not wait for it.
 */

import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import type { Clock } from '../../time.js'
import { isShortage } from '../http/failures.js'
import type { Address } from './query.js'

/** Block lists in the form of hosts files have a few MB; a larger file is taken for a mistake and ignored. */
const LARGEST_FILE_BYTES = 16 * 1024 * 1024

type Names = ReadonlyMap<string, readonly Address[]>

const NO_NAMES: Names = new Map()

/** The names in a hosts file; none if it cannot be read. */
export class HostsFile {
  readonly #path: string
  readonly #checkMs: number
  readonly #clock: Clock
  #names: Names | undefined
  #reading: Promise<Names> | undefined
  #nextCheck = 0
  #version = ''

  constructor(path: string, checkMs: number, clock: Clock) {
    this.#path = path
    this.#checkMs = checkMs
    this.#clock = clock
  }

  /** The current names; a promise only until the file has been read once. */
  names(): Names | Promise<Names> {
    if (this.#reading === undefined && (this.#names === undefined || this.#clock.now() >= this.#nextCheck)) {
      this.#reading = this.#read().finally(() => {
        this.#reading = undefined
        this.#nextCheck = this.#clock.now() + this.#checkMs
      })
    }
    return this.#names ?? this.#reading ?? NO_NAMES
  }

  async #read(): Promise<Names> {
    try {
      const { mtimeMs, size, ino } = await stat(this.#path)
      const version = `${mtimeMs} ${size} ${ino}`
      if (version !== this.#version) {
        this.#names = size > LARGEST_FILE_BYTES ? NO_NAMES : parseHosts(await readFile(this.#path, 'utf8'))
        this.#version = version
      }
    } catch (error) {
      // The file may well exist: keep the known names, or let the caller retry if there are none yet.
      if (isShortage(error)) {
        if (this.#names === undefined) throw error
        return this.#names
      }
      this.#names = NO_NAMES
      this.#version = ''
    }
    return this.#names ?? NO_NAMES
  }
}

/** Maps names to addresses, in the order of the lines. Lines that do not start with an address are skipped. */
export function parseHosts(text: string): Map<string, Address[]> {
  const names = new Map<string, Address[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = isIP(address)
    if (family !== 4 && family !== 6) continue
    for (const alias of aliases) {
      const name = alias.toLowerCase().replace(/\.$/, '')
      const known = names.get(name)
      if (known) known.push({ address, family })
      else names.set(name, [{ address, family }])
    }
  }
  return names
}
