/** Reads the command line of `kumo check`. */

import { all, type Crawler } from '../../index.js'
import { readArguments } from '../arguments.js'
import { buildCrawler, withOptionName } from '../build-crawler.js'
import { scopeWord } from '../crawl/options.js'
import { openSeedFile, type SeedFile } from '../crawl/seed-file.js'
import { UsageError } from '../usage-error.js'
import { CHECK_OPTIONS } from './options.js'
import { Site } from './site.js'

export interface CheckCommandLine {
  readonly crawler: Crawler
  readonly site: Site
  readonly checksExternal: boolean
  /** Statuses that count as working. */
  readonly accepted: ReadonlySet<number>
  readonly isJson: boolean
  readonly isQuiet: boolean
  /** Close it when the crawl ends. */
  readonly seedFile: SeedFile | undefined
}

const NO_URL = 'no URL given; pass at least one, as in: kumo check https://example.com/'

/** @throws UsageError if the command line is invalid. */
export async function readCheckCommandLine(args: readonly string[]): Promise<CheckCommandLine> {
  const { options, operands } = readArguments(args, CHECK_OPTIONS)
  const path = options.get('seeds')?.at(-1)
  if (operands.length === 0 && path === undefined) throw new UsageError(NO_URL)
  const crawler = buildCrawler(operands, options, CHECK_OPTIONS)
  const rules = withOptionName('scope', () => all(...(options.get('scope') ?? ['site']).map(scopeWord)))
  const accepted = new Set(options.get('accept')?.flatMap(statuses))
  const checksExternal = !options.has('no-external')
  const site = new Site(rules, checksExternal)
  const seedFile = path === undefined ? undefined : await openSeedFile(path)
  return {
    crawler: (seedFile === undefined ? crawler : crawler.seeds(seedFile.urls)).scope(site),
    site,
    checksExternal,
    accepted,
    isJson: options.has('json'),
    isQuiet: options.has('quiet'),
    seedFile,
  }
}

function statuses(list: string): number[] {
  return list.split(',').map((text) => {
    const status = Number(text)
    if (Number.isInteger(status) && status >= 400 && status <= 999) return status
    throw new UsageError(`--accept: got '${text}'; allowed: statuses from 400 on, such as 403,429`)
  })
}
