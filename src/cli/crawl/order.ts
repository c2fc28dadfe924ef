/** What a command line orders: the crawler, and what the command is to make of its pages. */

import type { Crawler } from '../../index.js'
import { readArguments } from '../arguments.js'
import { describe } from '../describe.js'
import { quoted } from '../format.js'
import { Misuse } from '../misuse.js'
import { CRAWL_OPTIONS } from './options.js'
import { openSeedFile, type SeedFile } from './seed-file.js'

export interface CrawlOrder {
  readonly crawler: Crawler
  readonly isJson: boolean
  readonly isQuiet: boolean
  /** To be closed when the crawl is over. */
  readonly seedFile: SeedFile | undefined
  /** The command line that goes on with the crawl; undefined without a store. */
  readonly command: string | undefined
  /** What `--limit` says. */
  readonly pageLimit: number | undefined
}

const NO_URL = 'no URL given; write at least one, as in: kumo crawl https://example.com/'

/** @throws Misuse for what cannot be had. */
export async function readOrder(args: readonly string[]): Promise<CrawlOrder> {
  const { options, operands } = readArguments(args, CRAWL_OPTIONS)
  const last = (name: string) => options.get(name)?.at(-1)
  const path = last('seeds')
  if (operands.length === 0 && path === undefined) throw new Misuse(NO_URL)
  const crawler = describe(operands, options)
  const seedFile = path === undefined ? undefined : await openSeedFile(path)
  const pages = last('limit')
  return {
    crawler: seedFile === undefined ? crawler : crawler.seeds(seedFile.urls),
    isJson: options.has('json'),
    isQuiet: options.has('quiet'),
    seedFile,
    command: options.has('store') ? ['kumo', 'crawl', ...args].map(quoted).join(' ') : undefined,
    pageLimit: pages === undefined ? undefined : Number(pages),
  }
}
