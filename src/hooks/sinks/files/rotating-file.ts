import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { KumoError, messageOf } from '../../../errors.js'
import type { Framing } from './framing.js'

export interface RotatingFileOptions {
  readonly path: string
  /** A part that is larger gets no more batches. Infinity: there is one file, named `path`. */
  readonly rotateBytes: number
  readonly framing: Framing
  /** The first line of each part. */
  readonly header?: string | undefined
}

/** A place in the parts of a file. */
export interface FilePosition {
  readonly part: number
  readonly bytes: number
}

const PART_DIGITS = 5

/**
 * A file, or parts of one, that grows by whole batches. A batch that could only be written in part is cut off again, at
 * once or, after a crash, when the file is opened.
 */
export class RotatingFile {
  readonly #options: RotatingFileOptions
  readonly #path: string
  #file: FileHandle | undefined = undefined
  #part = 1
  #bytes = 0

  constructor(options: RotatingFileOptions) {
    this.#options = options
    const { framing } = options
    const path = resolve(options.path)
    this.#path = path.endsWith(framing.suffix) ? path : path + framing.suffix
  }

  get position(): FilePosition {
    return { part: this.#part, bytes: this.#bytes }
  }

  get path(): string {
    return this.#pathOf(this.#part)
  }

  /** The path without the number of a part. */
  get base(): string {
    return this.#path
  }

  /** Continues where the journal ends, or after the last whole batch. */
  async open(readJournal: () => Promise<FilePosition | undefined>): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true })
    const parts = await this.#parts()
    this.#part = Math.max(1, ...parts)
    const end = await readJournal()
    if (end !== undefined && parts.includes(end.part)) {
      // What is behind the end belongs to pages that will be delivered again.
      for (const part of parts) if (part > end.part) await rm(this.#pathOf(part))
      await this.#shorten(end.part, end.bytes)
      this.#part = end.part
    }
    await this.#openPart()
  }

  async #shorten(part: number, bytes: number): Promise<void> {
    const file = await open(this.#pathOf(part), 'r+')
    try {
      const { size } = await file.stat()
      if (size > bytes) await file.truncate(bytes)
    } finally {
      await file.close()
    }
  }

  async #openPart(): Promise<void> {
    const { framing, header } = this.#options
    const path = this.#pathOf(this.#part)
    // For reading too: the end of the last batch is looked for.
    this.#file = await open(path, 'a+')
    const { size } = await this.#file.stat()
    const whole = await framing.wholeBytes(this.#file, size)
    if (whole === undefined) {
      await this.close()
      throw failed(`${path} exists and was not written by this sink; choose another path, or move it away`)
    }
    if (whole < size) await this.#file.truncate(whole)
    this.#bytes = whole
    if (whole === 0 && header !== undefined) await this.#write(await framing.encode(header))
  }

  /** Resolves once the batch is with the operating system. */
  async append(text: string): Promise<void> {
    const bytes = await this.#options.framing.encode(text)
    if (this.#bytes > 0 && this.#bytes + bytes.length > this.#options.rotateBytes) await this.#rotate()
    await this.#write(bytes)
  }

  async #rotate(): Promise<void> {
    await this.#file?.close()
    this.#file = undefined
    this.#part++
    await this.#openPart()
  }

  async #write(bytes: Uint8Array): Promise<void> {
    // A part could not be opened when the last one was full.
    if (this.#file === undefined) await this.#openPart()
    const file = this.#file!
    const { size, nlink } = await file.stat()
    if (nlink === 0) throw failed(`${this.path} was deleted during the crawl`)
    if (size !== this.#bytes) {
      throw failed(`another program writes to ${this.path}: it has ${size} bytes instead of ${this.#bytes}`)
    }
    try {
      for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten
    } catch (error) {
      await file.truncate(this.#bytes).catch(() => {})
      throw failed(`${this.path}: ${messageOf(error)}`, error)
    }
    this.#bytes += bytes.length
  }

  /** Resolves once everything is on the disk. */
  async sync(): Promise<void> {
    await this.#file?.datasync()
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = undefined
  }

  get #isRotating(): boolean {
    return this.#options.rotateBytes < Number.POSITIVE_INFINITY
  }

  #pathOf(part: number): string {
    if (!this.#isRotating) return this.#path
    const { stem, ending } = this.#name
    return join(dirname(this.#path), `${stem}-${String(part).padStart(PART_DIGITS, '0')}${ending}`)
  }

  /** `pages.jsonl.gz` has the stem `pages`. */
  get #name(): { stem: string; ending: string } {
    const name = basename(this.#path)
    const dot = name.indexOf('.', 1)
    return dot < 0 ? { stem: name, ending: '' } : { stem: name.slice(0, dot), ending: name.slice(dot) }
  }

  /** The parts that exist. */
  async #parts(): Promise<number[]> {
    if (!this.#isRotating) return (await exists(this.#path)) ? [1] : []
    const { stem, ending } = this.#name
    const names = await readdir(dirname(this.#path))
    return names.flatMap((name) => {
      if (!name.startsWith(`${stem}-`) || !name.endsWith(ending)) return []
      const digits = name.slice(stem.length + 1, name.length - ending.length)
      return /^\d{5,}$/.test(digits) ? [Number(digits)] : []
    })
  }
}

async function exists(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) throw failed(`${path} is a folder; give the path of a file`)
  return found !== undefined
}

function failed(message: string, cause?: unknown): KumoError {
  return new KumoError('KUMO_SINK_FAILED', message, { cause })
}
