/**
 * The files that one worker writes, one after another. A file is named `….open` until it is complete. A record is in the
 * file when `write` returns, so a process that is killed leaves at most one record that is not whole; `sync` also takes
 * it to the disk. Each file gets an index, `….cdxj`, which is sorted when the file is closed.
 */

import {
  closeSync,
  existsSync,
  fdatasync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type IndexEntry, indexLine, timestamp } from './format/cdxj.js'

export interface SeriesOptions {
  readonly folder: string
  readonly prefix: string
  /** Bytes of a file at most; a single larger record has a file of its own. */
  readonly maxBytes: number
  readonly isGzip: boolean
  /** Tells the files of several workers and processes apart. */
  readonly worker: number
  now(): number
  /** The first record of each file. */
  describe(name: string): Buffer
}

export const OPEN = '.open'
/** Index lines are written together: they can be made again from the records. */
const INDEX_BUFFER_CHARS = 64 * 1024

/** A record in a file, whose name still ends in `.open` until it is complete. */
export interface Place {
  readonly file: string
  readonly offset: number
}

interface OpenFile {
  readonly name: string
  readonly path: string
  readonly fd: number
  size: number
  readonly indexFd: number
  index: string
}

export class FileSeries {
  readonly #options: SeriesOptions
  #file: OpenFile | undefined
  #serial = 0
  #unsynced = false

  constructor(options: SeriesOptions) {
    this.#options = options
    mkdirSync(options.folder, { recursive: true })
  }

  /** Writes records and the index entry of the first. Returns where that one is. */
  write(records: Buffer, entry: Omit<IndexEntry, 'offset' | 'filename'>): Place {
    const file = this.#fileFor(records.length)
    const offset = file.size
    writeAll(file, records)
    this.#unsynced = true
    file.index += `${indexLine({ ...entry, offset, filename: file.name })}\n`
    if (file.index.length >= INDEX_BUFFER_CHARS) writeIndex(file)
    return { file: file.path, offset }
  }

  /** Resolves once everything written so far would survive a power failure. */
  async sync(): Promise<void> {
    if (!this.#unsynced || this.#file === undefined) return
    this.#unsynced = false
    writeIndex(this.#file)
    await syncData(this.#file.fd)
  }

  /** Completes the file. The next record begins another one. */
  close(): void {
    const file = this.#file
    if (file === undefined) return
    this.#file = undefined
    this.#unsynced = false
    writeIndex(file)
    closeSync(file.indexFd)
    fsyncSync(file.fd)
    closeSync(file.fd)
    complete(file.path)
  }

  #fileFor(length: number): OpenFile {
    const { maxBytes } = this.#options
    if (this.#file !== undefined && this.#file.size + length > maxBytes) this.close()
    this.#file ??= this.#create()
    return this.#file
  }

  #create(): OpenFile {
    const { folder, prefix, worker, isGzip, now, describe } = this.#options
    for (;;) {
      const serial = String(this.#serial++).padStart(5, '0')
      const name = `${prefix}-${timestamp(now())}-${serial}-w${worker}-${process.pid}.warc${isGzip ? '.gz' : ''}`
      const path = join(folder, name)
      if (existsSync(path) || existsSync(path + OPEN)) continue
      const file: OpenFile = {
        name,
        path,
        fd: openSync(path + OPEN, 'wx'),
        size: 0,
        indexFd: openSync(indexOf(path) + OPEN, 'w'),
        index: '',
      }
      writeAll(file, describe(name))
      return file
    }
  }
}

const syncData = promisify(fdatasync)

/** The index of a file stands beside it. */
export function indexOf(path: string): string {
  return `${path.replace(/\.w?arc(?:\.gz)?$/i, '')}.cdxj`
}

/** If the bytes cannot be written (disk full), the file ends with its last whole record as before. */
function writeAll(file: OpenFile, bytes: Buffer): void {
  let written = 0
  try {
    while (written < bytes.length) written += writeSync(file.fd, bytes, written)
  } catch (error) {
    if (written > 0) ftruncateSync(file.fd, file.size)
    throw error
  }
  file.size += bytes.length
}

function writeIndex(file: OpenFile): void {
  if (file.index === '') return
  writeSync(file.indexFd, file.index)
  file.index = ''
}

/** Sorts the index of a complete file and takes the mark off both. */
export function complete(path: string): void {
  const index = indexOf(path)
  const lines = readFileSync(index + OPEN, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  writeFileSync(index, lines.length === 0 ? '' : `${lines.sort().join('\n')}\n`)
  rmSync(index + OPEN)
  renameSync(path + OPEN, path)
}
