/**
 * Files that a process left open because it was killed. What is behind the last whole record is cut off, the index is
 * completed, and the mark is taken off.
 */

import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { pluralize } from '../errors.js'
import { entryOf } from './captures.js'
import { indexLine, readIndexLine } from './format/cdxj.js'
import { readFile } from './reader.js'
import { complete, indexOf, OPEN } from './series.js'

const LEFT_OPEN = /-w(\d+)-(\d+)\.warc(?:\.gz)?\.open$/

/**
 * Repairs what is left in a folder, except files that a running process still writes. Of several workers, each repairs
 * the files of its own number that this process left, and the first those of other processes. Returns what to report.
 */
export async function repairLeftovers(folder: string, prefix: string, worker: number): Promise<string[]> {
  const names = existsSync(folder) ? readdirSync(folder) : []
  const reports: string[] = []
  for (const name of names.sort()) {
    const match = name.startsWith(`${prefix}-`) ? LEFT_OPEN.exec(name) : null
    if (match === null) continue
    const [owner, pid] = [Number(match[1]), Number(match[2])]
    const isMine = pid === process.pid ? owner === worker : worker === 0 && !isRunning(pid)
    if (isMine) reports.push(...(await repair(join(folder, name.slice(0, -OPEN.length)))))
  }
  return reports
}

async function repair(path: string): Promise<string[]> {
  const index = indexOf(path) + OPEN
  const file = path + OPEN
  const lines = existsSync(index) ? readFileSync(index, 'utf8') : ''
  // The last line may be cut off.
  const whole = lines.slice(0, lines.lastIndexOf('\n') + 1)
  writeFileSync(index, whole)
  const last = readIndexLine(whole.trimEnd().split('\n').at(-1) ?? '', (name) => name)
  let end = last === undefined ? 0 : last.offset
  let added = ''
  for await (const record of readFile(file, end)) {
    if (!record.ok || record.problems.length > 0 || record.offset !== end) break
    end = record.offset + record.length
    if (record.offset === last?.offset) continue
    const entry = entryOf(record)
    if (entry) added += `${indexLine({ ...entry, offset: record.offset, filename: basename(path) })}\n`
  }
  if (added !== '') appendFileSync(index, added)
  const cut = statSync(file).size - end
  if (cut > 0) truncateSync(file, end)
  complete(path)
  if (cut === 0) return []
  return [
    `${path} was left open by a process that ended abruptly: its last ${pluralize(cut, 'byte')} were no whole record and were cut off.`,
  ]
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
