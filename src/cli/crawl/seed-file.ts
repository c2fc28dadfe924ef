/** Seeds from a file or from standard input, read as the crawl needs them. */

import { createReadStream } from 'node:fs'
import { access, constants } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { messageOf } from '../../errors.js'
import { Misuse } from '../misuse.js'

export interface SeedFile {
  readonly urls: AsyncIterable<string>
  /** Lets go of it, read to its end or not: standard input would keep the process alive. */
  close(): void
}

/** A URL a line; empty lines and those that begin with `#` are left out. `-` is standard input. */
export async function openSeedFile(path: string): Promise<SeedFile> {
  if (path !== '-') {
    await access(path, constants.R_OK).catch((error) => {
      const reason = messageOf(error).replace(/^\w+: |, access .*$/g, '')
      throw new Misuse(`--seeds: '${path}' cannot be read: ${reason}`)
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
