/**
 * The hosts file, which the system's own look-up would honour and a bare DNS client does not. It is read at the first
 * look-up and again when it has changed; the look-up that notices a check is due does not wait for the disk.
 */

import { readFile, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import type { Clock } from '../../time.js'
import { isShortage } from '../http/failures.js'
import type { Address } from './query.js'

/** Block-lists kept as hosts files have a few MB; a larger file is a mistake, and only its names would be missing. */
const LARGEST_FILE_BYTES = 16 * 1024 * 1024

type Names = ReadonlyMap<string, readonly Address[]>

const NO_NAMES: Names = new Map()

/** The names of one hosts file. A file that cannot be read has none. */
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

  /** The names as known now; a promise only before the first reading is done. */
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
      // It may well be there: what is known stays, and who knows nothing yet must ask again.
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

/** Name → addresses, in the order of the lines. Lines that do not begin with an address are passed over. */
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
