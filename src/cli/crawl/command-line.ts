/** Reads the command line of `kumo crawl`. */

import type { Crawler } from '../../index.js'
import { readArguments } from '../arguments.js'
import { buildCrawler, labelled, withOptionName } from '../build-crawler.js'
import { closestWord } from '../closest-word.js'
import { quoted } from '../format.js'
import { UsageError } from '../usage-error.js'
import { readFields } from './fields.js'
import { csv, type Format, jsonLines, TEXT } from './formats.js'
import { type HealthAddress, readHealthAddress } from './health.js'
import { markdown, markdownFiles } from './markdown.js'
import { CRAWL_OPTIONS } from './options.js'
import { openSeedFile, type SeedFile } from './seed-file.js'

export interface CrawlCommandLine {
  readonly crawler: Crawler
  /** Undefined: no results are printed. */
  readonly format: Format | undefined
  readonly isQuiet: boolean
  /** `--health` */
  readonly health: HealthAddress | undefined
  /** Close it when the crawl ends. */
  readonly seedFile: SeedFile | undefined
  /** The command line that resumes the crawl, with another `--limit` if given; undefined without a store. */
  readonly command: ((pageLimit?: number) => string) | undefined
  /** The value of `--limit`. */
  readonly pageLimit: number | undefined
}

type Options = ReadonlyMap<string, readonly string[]>

const NO_URL = 'no URL given; pass at least one, as in: kumo crawl https://example.com/'
const NOTHING_STORED = '--retry-failed needs the stored crawl whose failures to retry; add --store DIR'
const FORMATS = ['text', 'jsonl', 'csv', 'markdown']

/** @throws UsageError if the command line is invalid. */
export async function readCrawlCommandLine(args: readonly string[]): Promise<CrawlCommandLine> {
  const { options, operands } = readArguments(args, CRAWL_OPTIONS)
  const last = (name: string) => options.get(name)?.at(-1)
  const path = last('seeds')
  if (operands.length === 0 && path === undefined) throw new UsageError(NO_URL)
  if (options.has('retry-failed') && !options.has('store')) throw new UsageError(NOTHING_STORED)
  const crawler = buildCrawler(operands, options, CRAWL_OPTIONS)
  const format = formatOf(options)
  const isQuiet = options.has('quiet')
  const address = last('health')
  const health = address === undefined ? undefined : readHealthAddress(address)
  const seedFile = path === undefined ? undefined : await openSeedFile(path)
  const pages = last('limit')
  return {
    crawler: seedFile === undefined ? crawler : crawler.seeds(mapped(seedFile.urls, labelled(options))),
    format: isQuiet && format === TEXT ? undefined : format,
    isQuiet,
    health,
    seedFile,
    command: options.has('store') ? (limit) => resumeCommand(args, limit) : undefined,
    pageLimit: pages === undefined ? undefined : Number(pages),
  }
}

async function* mapped<A, B>(values: AsyncIterable<A>, change: (value: A) => B): AsyncIterable<B> {
  for await (const value of values) yield change(value)
}

/** @throws UsageError */
function formatOf(options: Options): Format {
  const format = formatName(options)
  const list = options.get('fields')?.at(-1)
  const folder = options.get('output')?.at(-1)
  if (folder !== undefined && format !== 'markdown')
    throw new UsageError(`--output is about --format markdown; to write ${format} to a file: > FILE`)
  if (format === 'text') {
    if (list === undefined) return TEXT
    throw new UsageError('--fields chooses what --format jsonl, csv or markdown prints: add --format')
  }
  const fields = list === undefined ? undefined : withOptionName('fields', () => readFields(list))
  if (format === 'jsonl') return jsonLines(fields)
  if (format === 'csv') return csv(fields)
  return folder === undefined ? markdown(fields) : markdownFiles(folder, fields)
}

function formatName(options: Options): string {
  const given = options.get('format')?.at(-1)
  if (given === undefined) return options.has('json') ? 'jsonl' : 'text'
  if (!FORMATS.includes(given)) {
    const meant = closestWord(given, FORMATS)
    const advice = meant === undefined ? `allowed: ${FORMATS.join(', ')}` : `did you mean ${meant}?`
    throw new UsageError(`--format: got '${given}'; ${advice}`)
  }
  if (options.has('json') && given !== 'jsonl')
    throw new UsageError(`--json means --format jsonl; leave out --json or --format ${given}`)
  return given
}

/** The same command, quoted for a shell; with `pageLimit` in place of the value of `--limit`. */
function resumeCommand(args: readonly string[], pageLimit: number | undefined): string {
  const words = pageLimit === undefined ? args : withLimit(args, String(pageLimit))
  return ['kumo', 'crawl', ...words.map(withoutPassword)].map(quoted).join(' ')
}

/** A command that is printed ends up in logs. */
function withoutPassword(word: string): string {
  return word.replace(/^((?:--store=)?rediss?:\/\/[^:@/]*):[^@/]*@/i, '$1:…@')
}

function withLimit(args: readonly string[], limit: string): string[] {
  return args.map((arg, i) => {
    if (arg.startsWith('--limit=')) return `--limit=${limit}`
    return args[i - 1] === '--limit' ? limit : arg
  })
}
