/** Requests as Redis keeps them: the host, then the record that a store on disk would write. */

import type { CrawlRequest } from '../../../types.js'
import { readRequest, writeRequest } from '../../level/format/records.js'

const LINE = '\n'

/** `at`: when it is due, on the server's clock, for a request that is scheduled for later. */
export function writeLine(request: CrawlRequest, at: number | undefined): string {
  return request.host + LINE + writeRequest(request, at)
}

/** A request, and when it is due if it is scheduled for later. */
export function readLine(line: string): { readonly request: CrawlRequest; readonly at: number | undefined } {
  const end = line.indexOf(LINE)
  if (end < 0) throw new Error(`not a request: ${line.slice(0, 80)}`)
  return readRequest(line.slice(end + LINE.length), line.slice(0, end))
}
