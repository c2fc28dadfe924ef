/** `kumo inspect`: shows the state of a stored crawl. */

import { inspectCrawl } from '../../index.js'
import { systemClock } from '../../time.js'
import { readArguments } from '../arguments.js'
import { DEFAULT_WIDTH } from '../screen.js'
import { UsageError } from '../usage-error.js'
import { DEFAULT_ROWS, INSPECT_OPTIONS } from './options.js'
import { reportLines } from './report.js'

/** Resolves with the exit code. */
export async function inspectCommand(args: readonly string[]): Promise<number> {
  const { options, operands } = readArguments(args, INSPECT_OPTIONS)
  const [path, another] = operands
  if (path === undefined) throw new UsageError('no crawl given; pass its folder, as in: kumo inspect ./crawl')
  if (another !== undefined) throw new UsageError(`expected one crawl, got '${path}' and '${another}'`)
  const hosts = rows('hosts', options.get('hosts')?.at(-1))
  const failures = rows('failures', options.get('failures')?.at(-1))
  const feeds = rows('feeds', options.get('feeds')?.at(-1))
  const inspection = await inspectCrawl(path, { hosts, failures, feeds })
  const details = { now: systemClock().now(), width: DEFAULT_WIDTH }
  const text = options.has('json') ? JSON.stringify(inspection) : reportLines(inspection, details).join('\n')
  process.stdout.write(`${text}\n`)
  return 0
}

function rows(name: string, text: string | undefined): number {
  if (text === undefined) return DEFAULT_ROWS
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new UsageError(`--${name}: got '${text}'; allowed: a whole number, 0 or more`)
}
