/** Reads the command line of `kumo crawl`. */

import type { Crawler } from '../../index.js'
import { readArguments } from '../arguments.js'
import { buildCrawler } from '../build-crawler.js'
import { quoted } from '../format.js'
import { UsageError } from '../usage-error.js'
import { CRAWL_OPTIONS } from './options.js'
import { openSeedFile, type SeedFile } from './seed-file.js'

export interface CrawlCommandLine {
  readonly crawler: Crawler
  readonly isJson: boolean
  readonly isQuiet: boolean
  /** Close it when the crawl ends. */
  readonly seedFile: SeedFile | undefined
  /** The command line that resumes the crawl; undefined without a store. */
  readonly command: string | undefined
  /** The value of `--limit`. */
  readonly pageLimit: number | undefined
}

const NO_URL = 'no URL given; pass at least one, as in: kumo crawl https://example.com/'

/** @throws UsageError if the command line is invalid. */
export async function readCrawlCommandLine(args: readonly string[]): Promise<CrawlCommandLine> {
  const { options, operands } = readArguments(args, CRAWL_OPTIONS)
  const last = (name: string) => options.get(name)?.at(-1)
  const path = last('seeds')
  if (operands.length === 0 && path === undefined) throw new UsageError(NO_URL)
  const crawler = buildCrawler(operands, options)
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
