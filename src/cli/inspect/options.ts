/** Every option of `kumo inspect`. */

import type { OptionSpec } from '../arguments.js'

/** The whole report then fits on a screen. */
export const DEFAULT_ROWS = 5

export const INSPECT_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  json: { help: 'print one line of JSON with every field' },
  hosts: { value: 'N', help: `show the N hosts with the most pending URLs (default ${DEFAULT_ROWS})` },
  failures: { value: 'N', help: `show the N most recent failures (default ${DEFAULT_ROWS})` },
  feeds: { value: 'N', help: `show the N feeds that lost most articles (default ${DEFAULT_ROWS})` },
  help: { short: 'h', help: 'show this help' },
}
