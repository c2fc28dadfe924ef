/** Every option of `kumo warc`. */

import type { OptionSpec } from '../arguments.js'

export const WARC_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  json: { help: 'list, verify: print one line of JSON for each record' },
  type: { value: 'TYPE', help: 'list: only records of this type, e.g. response' },
  at: { value: 'TIME', help: 'extract: the last capture up to this time, e.g. 2026-05-01' },
  raw: { help: 'extract: headers and body as they were received' },
  help: { short: 'h', help: 'show this help' },
}
