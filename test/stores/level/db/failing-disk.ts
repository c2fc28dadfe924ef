/** A disk that fails when it is told to, under a real database: the errors are those that classic-level makes. */

import { Level } from 'level'
import { onTestFinished } from 'vitest'
import { Database } from '../../../../src/stores/level/db/database.js'

/** As LevelDB tells it: a code, and the system's words behind its own. */
function ioError(words: string): Error {
  return Object.assign(new Error(`IO error: 000003.log: ${words}`), { code: 'LEVEL_IO_ERROR' })
}

export interface FailingDisk {
  /** Whether writes fail from now on, and reads. */
  writes: boolean
  reads: boolean
  /** Writes and reads that have failed. */
  failed: number
}

/** Until the test ends. */
export function failingDisk(): FailingDisk {
  const disk: FailingDisk = { writes: false, reads: false, failed: 0 }
  const fail = (words: string) => {
    disk.failed++
    return Promise.reject(ioError(words))
  }
  replace(Database.prototype, 'write', (write) => {
    return function (this: Database, ...changes) {
      return disk.writes ? fail('No space left on device') : write.apply(this, changes)
    }
  })
  const database = Level.prototype as unknown as Reading
  for (const name of ['get', 'getMany'] as const) {
    replace(database, name, (read) => {
      return function (this: Reading, ...what) {
        return disk.reads ? fail('Input/output error') : read.apply(this, what)
      }
    })
  }
  for (const name of ['iterator', 'keys'] as const) {
    replace(database, name, (iterate) => {
      return function (this: Reading, ...what) {
        const iterator = iterate.apply(this, what)
        if (disk.reads) iterator.all = () => fail('Input/output error')
        return iterator
      }
    })
  }
  return disk
}

/** What the store reads with. */
interface Reading {
  get(...what: unknown[]): Promise<unknown>
  getMany(...what: unknown[]): Promise<unknown>
  iterator(...what: unknown[]): { all: () => Promise<unknown> }
  keys(...what: unknown[]): { all: () => Promise<unknown> }
}

function replace<T extends object, N extends keyof T>(
  object: T,
  name: N,
  wrap: (method: T[N]) => T[N],
): void {
  const own = Object.getOwnPropertyDescriptor(object, name)
  object[name] = wrap(object[name])
  onTestFinished(() => {
    if (own === undefined) delete object[name]
    else Object.defineProperty(object, name, own)
  })
}
