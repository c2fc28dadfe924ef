import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const FILE = 'kumo-commits'
/** As many as the largest number that can be counted exactly. */
const DIGITS = 16

/**
 * A file beside the database that says how many commits it must hold. LevelDB makes a new, empty database where it does
 * not find its files, and passes over the end of a log that it cannot read: this notices both.
 */
export class CommitCount {
  readonly #path: string
  #file: number | undefined = undefined

  constructor(folder: string) {
    this.#path = join(folder, FILE)
  }

  /** Commits that were told; 0 for a new folder. */
  read(): number {
    try {
      return Number(readFileSync(this.#path, 'latin1')) || 0
    } catch {
      return 0
    }
  }

  write(commits: number): void {
    if (this.#file === undefined) {
      mkdirSync(join(this.#path, '..'), { recursive: true })
      writeFileSync(this.#path, ''.padStart(DIGITS, '0'), { flag: 'a' })
      this.#file = openSync(this.#path, 'r+')
    }
    // Always as long as before, so that it needs no new space on a full disk.
    writeSync(this.#file, String(commits).padStart(DIGITS, '0'), 0)
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }
}
