/**
 * What the disk has to do for a page and for a revisit if the store is much larger than the memory for its cache: the
 * crawl runs in a control group of its own whose limit covers the process and the cached files together.
 */

import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Bench, Figure } from './report.js'

const PAGES = 50_000
const HOSTS = 2000
/** Long, so that few pages make a large store. */
const URL_BYTES = 1000
/** For the process and the cache of its files. */
const MEMORY_MB = 208
/** Small, so that most of the memory that the group may use is left to the cache. */
const HEAP = ['--max-old-space-size=128', '--max-semi-space-size=2']
const MB = 2 ** 20
const BLOCK = 4096
/** Not in memory, as the folder for temporary files may be. */
const DISK = '/var/tmp'
const GROUPS = '/sys/fs/cgroup/memory'

interface Used {
  readonly visited: number
  readonly read: number
  readonly written: number
  readonly rssMb: number
}

export const disk: Bench = async () => {
  const folder = mkdtempSync(join(DISK, 'kumo-bench-'))
  const group = limitedGroup()
  if (group === undefined) console.log('  without a control group of its own, the cache is not bounded')
  try {
    const crawled = await crawl(folder, group)
    const storeMb = (await sizeOf(folder)) / MB
    const revisited = await crawl(folder, group)
    return [
      { what: 'store', value: storeMb, unit: 'MB' },
      { what: 'memory, files included', value: group === undefined ? Number.NaN : MEMORY_MB, unit: 'MB' },
      { what: 'of it the process', value: revisited.rssMb, unit: 'MB' },
      ...each('a page', crawled),
      ...each('a revisit', revisited),
    ]
  } finally {
    rmSync(folder, { recursive: true })
    if (group !== undefined) rmdirSync(group)
  }
}

function each(what: string, { visited, read, written }: Used): Figure[] {
  return [
    { what: `${what}, visited`, value: visited, unit: '' },
    { what: `${what}, blocks of 4 KB read`, value: read / BLOCK / visited, unit: '' },
    { what: `${what}, bytes written`, value: written / visited, unit: 'B' },
  ]
}

/** Beneath that of this process, whose own limits go on to hold. Undefined where the system does not allow one. */
function limitedGroup(): string | undefined {
  try {
    const own = /^\d+:memory:(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1]
    if (own === undefined) return undefined
    const group = join(GROUPS, own, `kumo-bench-${process.pid}`)
    mkdirSync(group)
    writeFileSync(join(group, 'memory.limit_in_bytes'), String(MEMORY_MB * MB))
    return group
  } catch {
    return undefined
  }
}

async function crawl(folder: string, group: string | undefined): Promise<Used> {
  const script = fileURLToPath(new URL('disk-child.mjs', import.meta.url))
  const options = JSON.stringify({ folder, group, pages: PAGES, hosts: HOSTS, urlBytes: URL_BYTES })
  const { stdout } = await promisify(execFile)(process.execPath, [...HEAP, script, options])
  return JSON.parse(stdout)
}

async function sizeOf(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  return files.reduce(
    (sum, file) => sum + (file.isFile() ? statSync(join(file.parentPath, file.name)).size : 0),
    0,
  )
}
