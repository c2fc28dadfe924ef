/** `kumo warc`: lists the records of an archive, checks them, and takes a page out. */

import { parseW3cDate } from '../../time.js'
import { canonicalizeUrl } from '../../url/canonicalize.js'
import { Captures } from '../../warc/captures.js'
import type { WarcEntry, WarcRecord } from '../../warc/contract.js'
import { matchesDigest } from '../../warc/format/digest.js'
import { readWarc } from '../../warc/index.js'
import { decodedBody, resolveCapture } from '../../warc/replay.js'
import { readArguments } from '../arguments.js'
import { closestWord } from '../closest-word.js'
import { counted, printable } from '../format.js'
import { UsageError } from '../usage-error.js'
import { WARC_OPTIONS } from './options.js'

const ACTIONS = ['list', 'verify', 'extract'] as const

type Options = ReadonlyMap<string, readonly string[]>

/** Resolves with the exit code. */
export async function warcCommand(args: readonly string[]): Promise<number> {
  // `print` reports it too; without a listener it would end the program.
  process.stdout.on('error', () => {})
  try {
    return await run(args)
  } catch (error) {
    // The reader has seen enough, as `| head` has.
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return 0
    throw error
  }
}

async function run(args: readonly string[]): Promise<number> {
  const { options, operands } = readArguments(args, WARC_OPTIONS)
  const [action = '', ...rest] = operands
  const [path, url, another] = rest
  if (!ACTIONS.includes(action as (typeof ACTIONS)[number])) throw unknownAction(action)
  if (path === undefined)
    throw new UsageError(`no archive given; pass one, as in: kumo warc ${action} ./archive`)
  if (action === 'extract') {
    if (url === undefined || another !== undefined)
      throw new UsageError(
        'expected an archive and one URL, as in: kumo warc extract ./archive https://example.com/',
      )
    return extract(path, url, options)
  }
  if (url !== undefined) throw new UsageError(`expected one archive, got '${path}' and '${url}'`)
  return action === 'list' ? list(path, options) : verify(path, options)
}

function unknownAction(action: string): UsageError {
  const meant = closestWord(action, ACTIONS)
  const advice = meant === undefined ? `use one of ${ACTIONS.join(', ')}` : `did you mean ${meant}?`
  return new UsageError(
    action === '' ? `nothing to do; ${advice}` : `'${action}' is not an action; ${advice}`,
  )
}

async function list(path: string, options: Options): Promise<number> {
  const type = options.get('type')?.at(-1)
  let isDamaged = false
  for await (const entry of readWarc(path)) {
    if (entry.ok && type !== undefined && entry.type !== type) continue
    if (entry.ok) await print(options.has('json') ? JSON.stringify(summaryOf(entry)) : lineOf(entry))
    else process.stderr.write(`${damageLine(entry)}\n`)
    isDamaged ||= !entry.ok
  }
  return isDamaged ? 1 : 0
}

function summaryOf(record: WarcRecord): object {
  const { type, url, date, http, file, offset, length, problems } = record
  const { status, start } = http ?? {}
  const what = status === undefined || status === 0 ? { start } : { status }
  return { type, url, date: isoOf(date), ...what, file, offset, length, problems }
}

function lineOf({ type, url, date, http }: WarcRecord): string {
  const status = http === undefined || http.status === 0 ? '' : String(http.status)
  return `${isoOf(date) ?? '-'.padEnd(24)}  ${type.padEnd(8)}  ${status.padEnd(3)}  ${printable(url ?? '')}`.trimEnd()
}

function isoOf(date: number | undefined): string | undefined {
  return date === undefined ? undefined : new Date(date).toISOString()
}

async function verify(path: string, options: Options): Promise<number> {
  let [records, bad] = [0, 0]
  for await (const entry of readWarc(path)) {
    const problems = entry.ok ? [...entry.problems, ...wrongDigests(entry)] : [entry.message]
    if (entry.ok) records++
    if (problems.length > 0) bad++
    if (options.has('json')) await print(JSON.stringify({ ...placeOf(entry), problems }))
    else if (problems.length > 0) await print(damageLine({ ...entry, message: problems.join('; ') }))
  }
  const verdict = bad === 0 ? 'all sound' : `${counted(bad, 'problem')}`
  process.stderr.write(`${counted(records, 'record')}, ${verdict}\n`)
  return bad === 0 && records > 0 ? 0 : 1
}

function placeOf({ file, offset, length, ...entry }: WarcEntry): object {
  return { file, offset, length, ...(entry.ok && { type: entry.type, url: entry.url }) }
}

function damageLine({
  file,
  offset,
  message,
}: Pick<WarcEntry, 'file' | 'offset'> & { message: string }): string {
  return `${printable(file)} at ${offset}: ${printable(message)}`
}

/** Revisits have the digest of a payload that is elsewhere. */
function wrongDigests({ fields, block, http, type }: WarcRecord): string[] {
  const payload = type === 'revisit' || fields.has('warc-truncated') ? undefined : http?.body
  const checks: [string, Uint8Array | undefined][] = [
    ['warc-block-digest', block],
    ['warc-payload-digest', payload],
  ]
  return checks.flatMap(([field, bytes]) => {
    const digest = fields.get(field)
    if (digest === undefined || bytes === undefined || matchesDigest(digest, bytes) !== false) return []
    return [`its ${field} is wrong`]
  })
}

async function extract(path: string, given: string, options: Options): Promise<number> {
  const url = canonicalizeUrl(given)
  if (url === undefined) throw new UsageError(`'${given}' is not an http(s) URL`)
  const captures = await Captures.load(path)
  const capture = captures.find(url, timeOf(options.get('at')?.at(-1)))
  const answer = capture && (await resolveCapture(captures, capture))
  if (answer === undefined) {
    process.stderr.write(`${printable(url)} is not in the archive ${printable(path)}\n`)
    return 1
  }
  if (!options.has('raw')) {
    await print(await decodedBody(answer))
    return 0
  }
  const head = answer.headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  await print(Buffer.concat([Buffer.from(`HTTP/1.1 ${answer.status}\r\n${head}\r\n`, 'latin1'), answer.body]))
  return 0
}

function timeOf(text: string | undefined): number | undefined {
  const time = text === undefined ? undefined : parseW3cDate(text)
  if (text !== undefined && time === undefined)
    throw new UsageError(`--at: got '${text}'; allowed: a date such as 2026-05-01 or 2026-05-01T12:00:00Z`)
  return time
}

/** A slow reader slows the command down, instead of filling the memory. */
function print(output: string | Uint8Array): Promise<void> {
  const bytes = typeof output === 'string' ? `${output}\n` : output
  return new Promise((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()))
  })
}
