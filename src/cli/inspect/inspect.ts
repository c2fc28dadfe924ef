/** `kumo inspect`: tells how the crawl in a folder stands. */

import { inspectCrawl } from '../../index.js'
import { systemClock } from '../../time.js'
import { readArguments } from '../arguments.js'
import { Misuse } from '../misuse.js'
import { USUAL_WIDTH } from '../screen.js'
import { inspectionLines } from './inspection.js'
import { INSPECT_OPTIONS, USUAL_ROWS } from './options.js'

/** Resolves with the exit code. */
export async function inspectCommand(args: readonly string[]): Promise<number> {
  const { options, operands } = readArguments(args, INSPECT_OPTIONS)
  const [path, another] = operands
  if (path === undefined) throw new Misuse('no folder given; write one, as in: kumo inspect ./crawl')
  if (another !== undefined) throw new Misuse(`one folder at a time; got '${path}' and '${another}'`)
  const hosts = rows('hosts', options.get('hosts')?.at(-1))
  const failures = rows('failures', options.get('failures')?.at(-1))
  const inspection = await inspectCrawl(path, { hosts, failures })
  const details = { now: systemClock().now(), width: USUAL_WIDTH }
  const text = options.has('json')
    ? JSON.stringify(inspection)
    : inspectionLines(inspection, details).join('\n')
  process.stdout.write(`${text}\n`)
  return 0
}

function rows(name: string, text: string | undefined): number {
  if (text === undefined) return USUAL_ROWS
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new Misuse(`--${name}: got '${text}'; allowed: a whole number, 0 or more`)
}
