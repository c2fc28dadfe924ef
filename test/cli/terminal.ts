/** A stream that records what is written and can pose as a terminal. */

import { Writable } from 'node:stream'
import type { Output } from '../../src/cli/screen.js'

export class Terminal extends Writable implements Output {
  text = ''
  readonly isTTY: boolean
  columns: number

  constructor({ isTTY = true, columns = 80 } = {}) {
    super({ decodeStrings: false })
    this.isTTY = isTTY
    this.columns = columns
  }

  override _write(chunk: string, _: string, done: (error?: Error) => void): void {
    this.text += chunk
    done()
  }
}
