/**
 * Real websites from archives, in memory: `../shared/sites` beside the checkout, if it is there. A site is a map from
 * paths to files. Plain JavaScript, because the server runs without a loader.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'

const FOLDER = fileURLToPath(new URL('../../../shared/sites/', import.meta.url))
const ARCHIVE = '.tar.gz'
/** Everything in a tar file begins at a multiple of this. */
const BLOCK_BYTES = 512
const REGULAR = new Set(['0', '\0'])
const LONG_NAME = 'L'

/** The names of the archives; empty if there are none. */
export function archives() {
  if (!existsSync(FOLDER)) return []
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith(ARCHIVE))
    .map((file) => file.slice(0, -ARCHIVE.length))
    .sort()
}

/**
 * The files of an archive by their path, which begins with a slash.
 *
 * @param {string} name
 * @returns {Map<string, Buffer>}
 */
export function readArchive(name) {
  const tar = gunzipSync(readFileSync(`${FOLDER}${name}${ARCHIVE}`))
  const files = new Map()
  let longName
  for (let at = 0; at + BLOCK_BYTES <= tar.length && tar[at] !== 0; ) {
    const bytes = Number.parseInt(text(tar, at + 124, 12), 8)
    const type = String.fromCharCode(tar[at + 156])
    const body = tar.subarray(at + BLOCK_BYTES, at + BLOCK_BYTES + bytes)
    const prefix = text(tar, at + 345, 155)
    const path = longName ?? (prefix === '' ? '' : `${prefix}/`) + text(tar, at, 100)
    longName = type === LONG_NAME ? text(body, 0, bytes) : undefined
    if (REGULAR.has(type)) files.set(path.replace(/^\.?\/?/, '/'), body)
    at += BLOCK_BYTES + Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES
  }
  return files
}

/** Text up to the first NUL. */
function text(bytes, at, length) {
  return bytes.toString('utf8', at, at + length).split('\0', 1)[0]
}
