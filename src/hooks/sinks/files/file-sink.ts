/** What JSON Lines and CSV have in common: lines in a file that grows by batches. */

import { assertKeys, invalidOption } from '../../../errors.js'
import type { Page } from '../../../extract/contract.js'
import type { StateSpace } from '../../../stores/contract.js'
import { systemRandom } from '../../../time.js'
import { pathOfWorker } from '../../worker-path.js'
import type { SinkOptions } from '../contract.js'
import { type ByteSize, byteSize, SINK_KEYS, text } from '../settings.js'
import { type SinkHook, sink } from '../sink.js'
import { COMPRESSIONS, type Compression, framingOf } from './framing.js'
import { RotatingFile } from './rotating-file.js'
import { WrittenPages } from './written-pages.js'

/** Options of sinks that write files. */
export interface FileSinkOptions extends SinkOptions<string> {
  /** Begin a new file when this one has so many bytes: `'256MB'`. Files are then named `pages-00001.jsonl`. */
  readonly rotate?: ByteSize | undefined
  /**
   * Each batch is a gzip member or a zstd frame of its own, which all tools read as one stream. zstd needs Node.js 22.15.
   * Default `'none'`.
   */
  readonly compress?: Compression | undefined
  /** Wait for the disk before each commit, so that pages survive a crash of the machine. Default false. */
  readonly sync?: boolean | undefined
}

const FILE_KEYS = [...SINK_KEYS, 'rotate', 'compress', 'sync'] as const

/** What the name of the journal ends with: see `WrittenPages`. */
const JOURNAL = '.kumo'

/** How a kind of file is made of pages. */
export interface FileKind<Data extends object> {
  readonly kind: string
  /** One line, without its end; undefined: the page is left out. */
  readonly line: (page: Page<Data>) => string | undefined
  readonly lineEnd: string
  readonly header?: string | undefined
}

export function fileSink<Data extends object>(
  path: string,
  options: FileSinkOptions,
  { kind, line, lineEnd, header }: FileKind<Data>,
): SinkHook<Data> {
  text(`${kind}: path`, path, 'the path of a file')
  assertKeys(kind, options, FILE_KEYS)
  const { compress = 'none', sync = false, rotate } = options
  if (!COMPRESSIONS.includes(compress))
    throw invalidOption(`${kind}.compress`, compress, "'gzip', 'zstd' or 'none'")
  if (typeof sync !== 'boolean') throw invalidOption(`${kind}.sync`, sync, 'true or false')
  const rotateBytes = rotate === undefined ? Number.POSITIVE_INFINITY : byteSize(`${kind}.rotate`, rotate)
  const framing = framingOf(compress, header !== undefined)
  let file: RotatingFile | undefined
  let written: WrittenPages | undefined
  return sink<string, Data>({
    ...options,
    name: `${kind} ${path}`,
    record: line,
    async open({ state, worker }) {
      const opened = new RotatingFile({
        path: pathOfWorker(path, worker),
        rotateBytes,
        framing,
        header: header === undefined ? undefined : header + lineEnd,
      })
      const pages = new WrittenPages(`${opened.base}${JOURNAL}`)
      file = opened
      await opened.open(() => crawlOf(state, worker).then((crawl) => pages.open(crawl)))
      written = pages
    },
    has: (page) => written?.has(page) === true,
    async write(batch) {
      await file!.append(batch.map(({ record }) => record + lineEnd).join(''))
      const ids = batch.flatMap(({ id, change }) => (change === 'new' ? id : []))
      await written?.add(file!.position, ids)
    },
    async flush() {
      if (sync) await file?.sync()
    },
    async close() {
      await file?.close()
      await written?.close()
    },
  })
}

/** The name of this crawl, which it keeps for as long as its store keeps anything. */
async function crawlOf(state: StateSpace, worker: number): Promise<string> {
  // Workers share the state, and each has a file of its own.
  const key = worker === 0 ? 'crawl' : `crawl ${worker}`
  const known = await state.get(key)
  if (typeof known === 'string') return known
  // Not the time: two crawls can begin in the same millisecond.
  const name = systemRandom().next().toString(36).slice(2)
  state.put(key, name)
  return name
}
