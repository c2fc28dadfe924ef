/**
 * One writer at a time. The lock is a file that names its owner; that of a process that is gone is taken over. The owner
 * looks at it again before each commit, so that even a lock that was lost by accident cannot lead to two writers.
 */

import { createHash } from 'node:crypto'
import {
  closeSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { KumoError } from '../../errors.js'
import { systemClock } from '../../time.js'

const NAME = 'write.lock'
/** The files that this process has open, on Linux. */
const OPEN_FILES = '/proc/self/fd'

interface Owner {
  readonly pid: number
  readonly machine: string
  /** When the process started, as the system counts it; a process with a number that was used before has another. */
  readonly started: string
  /** Different for each lock. */
  readonly token: string
}

/** Locks of this process. */
const held = new Set<string>()
let count = 0

export class WriteLock {
  readonly #path: string
  readonly #key: string
  readonly #token: string
  /** Open for as long as the lock is held. The system closes it when the thread ends, in whatever way. */
  readonly #fd: number

  /**
   * @param replaces The writer before was in a thread of this process that is gone.
   * @throws KumoError `KUMO_INDEX_LOCKED`
   */
  constructor(folder: string, replaces = false) {
    this.#path = join(folder, NAME)
    this.#key = resolve(this.#path)
    if (held.has(this.#key)) throw locked(folder, 'this program')
    const owner = self()
    this.#token = owner.token
    this.#fd = take(folder, this.#path, owner, replaces)
    held.add(this.#key)
  }

  /** @throws KumoError `KUMO_INDEX_LOCKED` if the lock was taken away. */
  check(folder: string): void {
    if (ownerOf(this.#path)?.token !== this.#token)
      throw locked(folder, 'something else, which took the lock away')
  }

  release(): void {
    if (!held.delete(this.#key)) return
    closeSync(this.#fd)
    if (ownerOf(this.#path)?.token === this.#token) rmSync(this.#path, { force: true })
  }
}

/** Returns the lock, open. It is open before others see it. */
function take(folder: string, path: string, owner: Owner, replaces: boolean): number {
  const own = `${path}.${owner.token}`
  writeFileSync(own, JSON.stringify(owner))
  const fd = openSync(own, 'r')
  let isTaken = false
  try {
    for (let attempt = 0; attempt < 3; attempt++) {
      isTaken = link(own, path)
      if (isTaken) return fd
      const other = ownerOf(path)
      if (other !== undefined && !(replaces && other.pid === owner.pid) && isAlive(other, path))
        throw locked(folder, nameOf(other))
      removeStale(path, own, other)
    }
    throw locked(folder, 'another process')
  } finally {
    if (!isTaken) closeSync(fd)
    rmSync(own, { force: true })
  }
}

/** Two processes may both find the lock stale: only what was looked at is removed. */
function removeStale(path: string, own: string, stale: Owner | undefined): void {
  const moved = `${own}.stale`
  try {
    renameSync(path, moved)
  } catch {
    return
  }
  const found = ownerOf(moved)
  if (found?.token !== stale?.token) link(moved, path)
  rmSync(moved, { force: true })
}

/** False if there is a lock already. */
function link(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function ownerOf(path: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Owner
  } catch {
    return undefined
  }
}

function self(): Owner {
  const { pid } = process
  const started = startOf(pid) ?? ''
  const seed = `${pid} ${started} ${systemClock().now()} ${count++}`
  const token = createHash('sha256').update(seed).digest('hex').slice(0, 16)
  return { pid, machine: hostname(), started, token }
}

function isAlive({ pid, machine, started }: Owner, path: string): boolean {
  // Nobody can tell what happens on another machine.
  if (machine !== hostname()) return true
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  const now = startOf(pid)
  if (now !== undefined && started !== '' && now !== started) return false
  return pid !== process.pid || isOpenHere(path)
}

/** Whether a thread of this process has the lock open: one that was terminated has not. True where nobody can tell. */
function isOpenHere(path: string): boolean {
  try {
    const lock = statSync(path, { bigint: true })
    return readdirSync(OPEN_FILES).some((fd) => {
      const file = statSync(`${OPEN_FILES}/${fd}`, { bigint: true, throwIfNoEntry: false })
      return file?.ino === lock.ino && file.dev === lock.dev
    })
  } catch {
    return true
  }
}

/** Field 22 of /proc/PID/stat; undefined where there is no such file. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}

function nameOf({ pid, machine }: Owner): string {
  return machine === hostname() ? `process ${pid}` : `process ${pid} on ${machine}`
}

function locked(folder: string, by: string): KumoError {
  return new KumoError(
    'KUMO_INDEX_LOCKED',
    `${folder} is being written by ${by}; only one writer may have an index open: close the other one first`,
  )
}
