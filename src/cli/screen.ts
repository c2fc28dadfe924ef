/**
 * Where the command writes: results to standard output, everything about the crawl to standard error, so that the one
 * can be piped and the other still be seen. In a terminal a status line stays below both.
 */

import type { Writable } from 'node:stream'

/** What a terminal tells beyond what every stream does. */
export interface Output extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
}

/** Help texts and tables are made for this width; so are terminals that do not know their own. */
export const USUAL_WIDTH = 80
/** A line that wraps cannot be rewritten, and the terminal may add `^C` to it. */
const MARGIN = 3
const ERASE_LINE = '\r\x1b[K'

export class Screen {
  /** Whether a status line can be rewritten. */
  readonly rewrites: boolean
  readonly #stdout: Output
  readonly #stderr: Output
  readonly #sharesTerminal: boolean
  #status = ''

  constructor(stdout: Output, stderr: Output, terminal: string | undefined) {
    this.#stdout = stdout
    this.#stderr = stderr
    this.rewrites = stderr.isTTY === true && terminal !== 'dumb'
    this.#sharesTerminal = this.rewrites && stdout.isTTY === true
  }

  /** Columns that a status line may fill. */
  get width(): number {
    // Some terminals say that they have no columns at all.
    return (this.#stderr.columns || USUAL_WIDTH) - MARGIN
  }

  /**
   * Writes a line of the result. The promise is kept when the line is out of our hands: a page counts as delivered only
   * then, and a slow reader slows the crawl. It is never kept for a line that could not be written.
   */
  result(line: string): Promise<void> {
    const status = this.#sharesTerminal ? this.#status : ''
    if (status !== '') this.#stderr.write(ERASE_LINE)
    const written = new Promise<void>((resolve) => {
      this.#stdout.write(`${line}\n`, (error) => void (error ?? resolve()))
    })
    if (status !== '') this.#stderr.write(status)
    return written
  }

  /** Writes lines that stay. */
  note(...lines: readonly string[]): void {
    const text = lines.map((line) => `${line}\n`).join('')
    this.#stderr.write(this.#status === '' ? text : `${ERASE_LINE}${text}${this.#status}`)
  }

  /** Shows the status line, in place of the last one. */
  status(text: string): void {
    if (text === this.#status) return
    this.#stderr.write(ERASE_LINE + text)
    this.#status = text
  }
}
