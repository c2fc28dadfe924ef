/**
 * The command's output: results go to standard output, everything about the crawl to standard error, so that results
 * can be piped while progress stays visible. In a terminal, a status line stays below both.
 */

import type { Writable } from 'node:stream'

/** A stream that may be a terminal. */
export interface Output extends Writable {
  readonly isTTY?: boolean
  readonly columns?: number
}

/** The width of help texts and tables, and of terminals that do not report one. */
export const DEFAULT_WIDTH = 80
/** A line that wraps cannot be rewritten, and the terminal may append `^C`. */
const MARGIN = 3
const ERASE_LINE = '\r\x1b[K'

export class Screen {
  /** Whether standard error is a terminal, so that a status line can be rewritten. */
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

  /** Columns available to a status line. */
  get width(): number {
    // Some terminals report 0 columns.
    return (this.#stderr.columns || DEFAULT_WIDTH) - MARGIN
  }

  /**
   * Writes a line of results. The promise resolves once the line has been flushed: only then does a page count as
   * delivered, and a slow reader slows the crawl down. It never settles if the line cannot be written.
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

  /** Writes lines above the status line. */
  note(...lines: readonly string[]): void {
    const text = lines.map((line) => `${line}\n`).join('')
    this.#stderr.write(this.#status === '' ? text : `${ERASE_LINE}${text}${this.#status}`)
  }

  /** Replaces the status line. */
  status(text: string): void {
    if (text === this.#status) return
    this.#stderr.write(ERASE_LINE + text)
    this.#status = text
  }
}
