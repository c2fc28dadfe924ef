/** Seeds from a file or standard input, read lazily. */

import { createReadStream } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { messageOf } from '../../errors.js'
import { UsageError } from '../usage-error.js'

export interface SeedFile {
  readonly urls: AsyncIterable<string>
  /** Releases the input, even if it was not read to the end: an open standard input keeps the process alive. */
  close(): void
}

/** One URL per line; empty lines and lines starting with `#` are ignored. `-` is standard input. */
export async function openSeedFile(path: string): Promise<SeedFile> {
  if (path !== '-') {
    await access(path, constants.R_OK).catch((error) => {
      const reason = messageOf(error).replace(/^\w+: |, access .*$/g, '')
      throw new UsageError(`--seeds: cannot read '${path}': ${reason}`)
    })
  }
  let input: Readable | undefined
  return {
    urls: {
      async *[Symbol.asyncIterator]() {
        input = path === '-' ? process.stdin : createReadStream(path)
        for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
          const url = line.trim()
          if (url !== '' && !url.startsWith('#')) yield url
        }
      },
    },
    close: () => void input?.destroy(),
  }
}
