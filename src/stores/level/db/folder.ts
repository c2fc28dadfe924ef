import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { KumoError } from '../../../errors.js'
import { FIRST_WRITER } from '../format/keys.js'

const FILE = 'kumo-commits'
/** Enough for the largest safe integer; a process ID is shorter. */
const DIGITS = 16

/**
 * A file next to the database that records how many commits of a writer it must contain, and which process writes them.
 * LevelDB creates an empty database where it does not find its files, and silently skips the unreadable end of a log.
 * This file reveals both.
 */
export class CommitCount {
  readonly #path: string
  #file: number | undefined = undefined
  #last = 0

  constructor(folder: string, writer = FIRST_WRITER) {
    this.#path = join(folder, writer === FIRST_WRITER ? FILE : `${FILE}-${writer}`)
  }

  /** The files of all writers that have one, by writer. */
  static allIn(folder: string): Map<number, CommitCount> {
    const counts = new Map([[FIRST_WRITER, new CommitCount(folder)]])
    for (const writer of writersWithFile(folder)) counts.set(writer, new CommitCount(folder, writer))
    return counts
  }

  /** The recorded number of commits; 0 for a new folder, and if the file is unreadable. */
  read(): number {
    return this.#content()?.commits ?? 0
  }

  /** Whether the last writer did not close; also true if the file is unreadable. */
  get crashed(): boolean {
    return this.#text() !== '' && this.#content()?.owner !== 0
  }

  /** Whether the process that writes here is alive. A killed process is not, and one that closed has removed its ID. */
  isOwned(): boolean {
    const owner = this.#content()?.owner ?? 0
    return owner !== 0 && isAlive(owner)
  }

  write(commits: number): void {
    if (this.#file === undefined) {
      mkdirSync(dirname(this.#path), { recursive: true })
      this.#file = openSync(this.#path, existsSync(this.#path) ? 'r+' : 'w+')
    }
    this.#last = commits
    this.#put(commits, process.pid)
  }

  /** The same, ignoring errors: a crawl can do without this extra check. */
  tryWrite(commits: number): void {
    try {
      this.write(commits)
    } catch {
      // The disk is full, or the file is not writable.
    }
  }

  close(): void {
    if (this.#file !== undefined) this.#put(this.#last, 0)
    this.abandon()
  }

  /** Closes the file as if the writer had crashed. */
  abandon(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  /** Its contents are recorded elsewhere. */
  remove(): void {
    this.abandon()
    rmSync(this.#path, { force: true })
  }

  /** Of constant length, so that it needs no additional space on a full disk. */
  #put(commits: number, owner: number): void {
    const text = String(commits).padStart(DIGITS, '0') + String(owner).padStart(DIGITS, '0')
    writeSync(this.#file!, text, 0)
  }

  /** Undefined: the file is missing or damaged. */
  #content(): { commits: number; owner: number } | undefined {
    const [, commits, owner] = CONTENT.exec(this.#text()) ?? []
    return commits === undefined ? undefined : { commits: Number(commits), owner: Number(owner) }
  }

  #text(): string {
    try {
      return readFileSync(this.#path, 'latin1')
    } catch {
      return ''
    }
  }
}

/** Whether a process with this ID exists on this machine. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The number of commits, and the ID of the process that writes them. */
const CONTENT = /^(\d{16})(\d{16})$/

const WRITER_FILE = new RegExp(`^${FILE}-(\\d+)$`)

function writersWithFile(folder: string): number[] {
  let names: string[] = []
  try {
    names = readdirSync(folder)
  } catch {
    // There is no folder. Whatever creates it reports the error.
  }
  return names.flatMap((name) => {
    const writer = WRITER_FILE.exec(name)?.[1]
    return writer === undefined ? [] : [Number(writer)]
  })
}

const CURRENT = 'CURRENT'

/** The folder of an open database. If it is deleted, LevelDB keeps writing to files that can no longer be found. */
export class OpenFolder {
  readonly #path: string
  readonly #inode: bigint

  constructor(path: string) {
    this.#path = path
    this.#inode = statSync(path, { bigint: true }).ino
  }

  /** Whether it was deleted, moved or replaced in the meantime. */
  isGone(): boolean {
    try {
      const now = statSync(this.#path, { bigint: true, throwIfNoEntry: false })
      return now?.ino !== this.#inode || !existsSync(join(this.#path, CURRENT))
    } catch {
      // A disk that does not respond has not lost anything yet. A missing folder does not end up here.
      return false
    }
  }
}

/** Bits of a mode that let the group or everybody in. */
const OTHERS = 0o077
const OWNER_ONLY = 0o700

/**
 * Closes the folder to everybody but its owner, whatever the umask. LevelDB creates its files with the mode of the
 * umask, but nobody else can reach a file in a closed folder.
 *
 * @throws KumoError `KUMO_STORE_FAILED` if that is not possible.
 */
export function closeToOthers(folder: string): void {
  if (process.platform === 'win32' || (statSync(folder).mode & OTHERS) === 0) return
  try {
    chmodSync(folder, OWNER_ONLY)
  } catch (cause) {
    const message =
      `the crawl keeps cookies, but other users may read ${folder} and its mode cannot be changed; ` +
      'choose a folder that belongs to you'
    throw new KumoError('KUMO_STORE_FAILED', message, { cause })
  }
}

/** Whether the folder contains a database, or remains of one. */
export function holdsDatabase(folder: string): boolean {
  return existsSync(join(folder, CURRENT)) || lacksCurrent(folder)
}

/**
 * Whether LevelDB was killed while creating a database here. It writes its first list of tables, then names it in
 * CURRENT, and only then creates logs and tables. So nothing is lost, and it starts over.
 */
export function isUncreated(folder: string): boolean {
  if (!existsSync(folder) || existsSync(join(folder, CURRENT))) return false
  return !namesIn(folder).some(
    (name) => /\.(ldb|sst|log)$/.test(name) || (name.startsWith('MANIFEST-') && name !== FIRST_MANIFEST),
  )
}

const FIRST_MANIFEST = 'MANIFEST-000001'

/** @throws KumoError `KUMO_STORE_FAILED` if it is a file. */
function namesIn(folder: string): readonly string[] {
  if (statSync(folder).isDirectory()) return readdirSync(folder)
  throw new KumoError('KUMO_STORE_FAILED', `${folder} is a file; give the path of a folder`)
}

/** Whether there are database files, but not the one that LevelDB starts from. */
export function lacksCurrent(folder: string): boolean {
  if (!existsSync(folder) || existsSync(join(folder, CURRENT))) return false
  return namesIn(folder).some((name) => name.startsWith(FILE) || /\.(ldb|sst|log)$|^MANIFEST-/.test(name))
}
