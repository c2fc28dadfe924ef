/** Every option of `kumo inspect`. */

import type { OptionSpec } from '../arguments.js'

/** Rows that fit on a screen together with all else. */
export const USUAL_ROWS = 5

export const INSPECT_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  json: { help: 'one line of JSON, with every field' },
  hosts: { value: 'N', help: `show the N hosts with most pending (default ${USUAL_ROWS})` },
  failures: { value: 'N', help: `show the last N failures (default ${USUAL_ROWS})` },
  help: { short: 'h', help: 'this text' },
}
