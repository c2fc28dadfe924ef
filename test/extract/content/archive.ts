/** Reads the archives of published data. */

import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

const SHARED = new URL('../../../../shared/', import.meta.url)
const BLOCK = 512

/** Whether the published data is there. */
export function hasShared(path: string): boolean {
  return existsSync(new URL(path, SHARED))
}

/** The files of a `.tar.gz`, by path. */
export function filesIn(path: string): Map<string, Buffer> {
  const tar = gunzipSync(readFileSync(new URL(path, SHARED)))
  const files = new Map<string, Buffer>()
  let longName: string | undefined
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    const header = tar.subarray(at, at + BLOCK)
    const size = Number.parseInt(text(header, 124, 12), 8)
    const content = tar.subarray(at + BLOCK, at + BLOCK + size)
    const type = text(header, 156, 1)
    const prefix = text(header, 345, 155)
    const name = longName ?? (prefix === '' ? text(header, 0, 100) : `${prefix}/${text(header, 0, 100)}`)
    longName = undefined
    if (type === 'x') longName = /\d+ path=(.*)\n/.exec(content.toString())?.[1]
    else if (type === 'L') longName = text(content, 0, size)
    else if (type === '0' || type === '') files.set(name.replace(/^\.\//, ''), content)
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
  }
  return files
}

function text(bytes: Buffer, start: number, length: number): string {
  const part = bytes.subarray(start, start + length)
  const end = part.indexOf(0)
  return part
    .subarray(0, end === -1 ? length : end)
    .toString()
    .trim()
}
