import { type FileHandle, open, readFile, rename, writeFile } from 'node:fs/promises'
import type { Page } from '../../../extract/contract.js'
import type { FilePosition } from './rotating-file.js'

/** More pages than a crawl has between fetch and settlement. Twice as many are kept before the oldest are forgotten. */
const REMEMBERED = 100_000
const TITLE = 'kumo pages written by'

/**
 * A journal beside a file: after each batch, where it ended and which pages it had. A page may have been written and not
 * yet settled when the program is killed; it is then delivered again, and must not be written twice. What is behind the
 * last entry of the journal was cut off by a kill. The journal belongs to one crawl, so that another crawl into the same
 * file writes all its pages.
 *
 * Only first visits are listed: of a page that has changed nobody can tell whether it has changed twice.
 */
export class WrittenPages {
  readonly #path: string
  #file: FileHandle | undefined = undefined
  #title = ''
  /** The last entries, for when the journal is shortened. */
  #entries: { readonly line: string; readonly count: number }[] = []
  #count = 0
  /** Those of earlier runs. */
  readonly #earlier = new Set<string>()

  constructor(path: string) {
    this.#path = path
  }

  /** Where the crawl stopped writing; undefined if it has not begun. */
  async open(crawl: string): Promise<FilePosition | undefined> {
    this.#title = `${TITLE} ${crawl}\n`
    const text = await readFile(this.#path, 'latin1').catch(() => '')
    const isOurs = text.startsWith(this.#title)
    // The last line may be cut off; then its batch is cut off too, and its pages are delivered again.
    const lines = isOurs ? text.slice(this.#title.length).split('\n').slice(0, -1) : []
    let position: FilePosition | undefined
    for (const line of lines) {
      const [part, bytes, ...ids] = line.split(' ')
      position = { part: Number(part), bytes: Number(bytes) }
      this.#entries.push({ line, count: ids.length })
      this.#count += ids.length
      for (const id of ids) this.#earlier.add(id)
    }
    await this.#rewrite()
    return position
  }

  /** True once for each page that an earlier run wrote. */
  has({ id, change }: Pick<Page, 'id' | 'change'>): boolean {
    return this.#earlier.size > 0 && change === 'new' && this.#earlier.delete(id)
  }

  /** A batch was written. */
  async add({ part, bytes }: FilePosition, ids: readonly string[]): Promise<void> {
    const line = [part, bytes, ...ids].join(' ')
    this.#entries.push({ line, count: ids.length })
    this.#count += ids.length
    if (this.#count > 2 * REMEMBERED) await this.#rewrite()
    else await this.#file!.write(`${line}\n`)
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = undefined
  }

  async #rewrite(): Promise<void> {
    await this.close()
    let from = 0
    while (this.#count - (this.#entries[from]?.count ?? this.#count) > REMEMBERED)
      this.#count -= this.#entries[from++]!.count
    this.#entries = this.#entries.slice(from)
    const fresh = `${this.#path}.new`
    await writeFile(fresh, this.#title + this.#entries.map(({ line }) => `${line}\n`).join(''), 'latin1')
    await rename(fresh, this.#path)
    this.#file = await open(this.#path, 'a')
  }
}
