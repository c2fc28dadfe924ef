import {
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
import { FIRST_WRITER } from '../format/keys.js'

const FILE = 'kumo-commits'
/** As many as the largest number that can be counted exactly; a process number has fewer. */
const DIGITS = 16

/**
 * A file beside the database that says how many commits of a writer it must hold, and which process writes them. LevelDB
 * makes a new, empty database where it does not find its files, and passes over the end of a log that it cannot read: this
 * notices both.
 */
export class CommitCount {
  readonly #path: string
  #file: number | undefined = undefined
  #last = 0

  constructor(folder: string, writer = FIRST_WRITER) {
    this.#path = join(folder, writer === FIRST_WRITER ? FILE : `${FILE}-${writer}`)
  }

  /** Those of all writers that have one, by writer. */
  static allIn(folder: string): Map<number, CommitCount> {
    const counts = new Map([[FIRST_WRITER, new CommitCount(folder)]])
    for (const writer of writersWithFile(folder)) counts.set(writer, new CommitCount(folder, writer))
    return counts
  }

  /** Commits that were told; 0 for a new folder, and if what is there cannot be believed. */
  read(): number {
    return this.#content()?.commits ?? 0
  }

  /** Whether the last who wrote here did not close; also if what is there cannot be believed. */
  get wasCut(): boolean {
    return this.#text() !== '' && this.#content()?.owner !== 0
  }

  /** Whether the process that writes here is alive. One that was killed is not, and one that closed says so. */
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

  /** The same; but a crawl does without this second pair of eyes rather than fail. */
  tell(commits: number): void {
    try {
      this.write(commits)
    } catch {
      // The disk is full or the file is not ours to write.
    }
  }

  close(): void {
    if (this.#file !== undefined) this.#put(this.#last, 0)
    this.abandon()
  }

  /** Closes the file as if whoever writes here had been cut. */
  abandon(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  /** What it says is said elsewhere. */
  remove(): void {
    this.abandon()
    rmSync(this.#path, { force: true })
  }

  /** Always as long as before, so that it needs no new space on a full disk. */
  #put(commits: number, owner: number): void {
    const text = String(commits).padStart(DIGITS, '0') + String(owner).padStart(DIGITS, '0')
    writeSync(this.#file!, text, 0)
  }

  /** Undefined: there is no such file, or it is damaged. */
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

/** Whether there is a process of this number on this machine. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Commits, and who writes them. */
const CONTENT = /^(\d{16})(\d{16})$/

const LANE_FILE = new RegExp(`^${FILE}-(\\d+)$`)

function writersWithFile(folder: string): number[] {
  let names: string[] = []
  try {
    names = readdirSync(folder)
  } catch {
    // There is no folder: whoever makes it tells why it cannot.
  }
  return names.flatMap((name) => {
    const writer = LANE_FILE.exec(name)?.[1]
    return writer === undefined ? [] : [Number(writer)]
  })
}

const LIST = 'CURRENT'

/** The folder of a database that is open. LevelDB goes on writing to files that nobody will find again. */
export class OpenFolder {
  readonly #path: string
  readonly #inode: bigint

  constructor(path: string) {
    this.#path = path
    this.#inode = statSync(path, { bigint: true }).ino
  }

  /** Whether it was deleted, moved or replaced since. */
  isGone(): boolean {
    try {
      const now = statSync(this.#path, { bigint: true, throwIfNoEntry: false })
      return now?.ino !== this.#inode || !existsSync(join(this.#path, LIST))
    } catch {
      // A disk that does not answer has lost nothing yet; a path through what is no folder gives no entry.
      return false
    }
  }
}

/** Whether there is a database in the folder, or what is left of one. */
export function holdsDatabase(folder: string): boolean {
  return existsSync(join(folder, LIST)) || hasLostItsList(folder)
}

/**
 * Whether LevelDB was killed while it made a database here. It writes its first list of tables, then names it in CURRENT;
 * only then there are logs and tables. So nothing is lost, and it begins again.
 */
export function isUnborn(folder: string): boolean {
  if (!existsSync(folder) || existsSync(join(folder, LIST))) return false
  return !readdirSync(folder).some(
    (name) => /\.(ldb|sst|log)$/.test(name) || (name.startsWith('MANIFEST-') && name !== FIRST_MANIFEST),
  )
}

const FIRST_MANIFEST = 'MANIFEST-000001'

/** Whether there are files of a database, but not the one that it begins with. */
export function hasLostItsList(folder: string): boolean {
  if (!existsSync(folder) || existsSync(join(folder, LIST))) return false
  return readdirSync(folder).some((name) => name.startsWith(FILE) || /\.(ldb|sst|log)$|^MANIFEST-/.test(name))
}
