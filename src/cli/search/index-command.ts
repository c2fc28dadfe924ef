/** `kumo index`: makes the pages of a crawl, or the files of a folder, searchable. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { pageOf } from '../../conformance/page.js'
import { openIndex, searchIndex } from '../../search/index.js'
import { readArguments } from '../arguments.js'
import { buildCrawler, withOptionName } from '../build-crawler.js'
import { openSeedFile } from '../crawl/seed-file.js'
import { count } from '../format.js'
import { runCrawl } from '../run-crawl.js'
import { Screen } from '../screen.js'
import { UsageError } from '../usage-error.js'
import { INDEX_OPTIONS } from './options.js'

type Options = ReadonlyMap<string, readonly string[]>

const NOTHING =
  'nothing to index; pass a URL, as in: kumo index https://example.com/, or a folder with --as URL'
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.htm': 'text/html',
  '.xhtml': 'application/xhtml+xml',
  '.txt': 'text/plain',
  '.md': 'text/plain',
}

/** Resolves with the exit code. */
export async function indexCommand(args: readonly string[]): Promise<number> {
  const { options, operands } = readArguments(args, INDEX_OPTIONS)
  const last = (name: string) => options.get(name)?.at(-1)
  if (operands.length === 0 && last('seeds') === undefined) throw new UsageError(NOTHING)
  const out = last('out') ?? './index'
  const folder = last('as') === undefined ? operands.find(isFolder) : undefined
  if (folder !== undefined)
    throw new UsageError(
      `'${folder}' is a folder: pass the URL of its pages, as in --as https://example.com/`,
    )
  const pages =
    last('as') === undefined
      ? await indexCrawl(operands, options, out)
      : await indexFolder(operands, options, out)
  const index = await openIndex(out)
  const { documents, sections, bytes } = await index.stats()
  await index.close()
  if (!options.has('quiet'))
    process.stderr.write(
      `${count(documents)} documents, ${count(sections)} sections, ${count(Math.ceil(bytes / 1024))} KB in ${out}\n`,
    )
  return pages > 0 ? 0 : 1
}

async function indexCrawl(urls: readonly string[], options: Options, out: string): Promise<number> {
  const crawler = buildCrawler(urls, options, INDEX_OPTIONS).use(hookOf(options, out))
  const path = options.get('seeds')?.at(-1)
  const seedFile = path === undefined ? undefined : await openSeedFile(path)
  try {
    const { pages } = await runCrawl(seedFile === undefined ? crawler : crawler.seeds(seedFile.urls), {
      screen: new Screen(process.stdout, process.stderr, process.env.TERM),
      isQuiet: options.has('quiet'),
      aborter: new AbortController(),
    })
    return pages
  } finally {
    await seedFile?.close()
  }
}

function hookOf(options: Options, out: string) {
  return withOptionName('language', () => searchIndex(out, { language: options.get('language')?.at(-1) }))
}

async function indexFolder(folders: readonly string[], options: Options, out: string): Promise<number> {
  const base = options.get('as')!.at(-1)!
  if (!URL.canParse(base) || !base.startsWith('http'))
    throw new UsageError(`--as: got '${base}'; allowed: an http or https URL`)
  const [folder, another] = folders
  if (folder === undefined || another !== undefined) throw new UsageError('--as takes one folder')
  const files = filesIn(folder)
  const hook = hookOf(options, out)
  await hook.open?.(undefined as never)
  let pages = 0
  try {
    for (const file of files) {
      const type = TYPES[extname(file).toLowerCase()]!
      const url = new URL(
        file.split('/').map(encodeURIComponent).join('/'),
        base.endsWith('/') ? base : `${base}/`,
      )
      // What a server shows for a folder.
      const address = url.href.replace(/\/index\.html?$/, '/')
      await hook.page?.(
        pageOf({ url: address, body: readFileSync(join(folder, file)), headers: { 'content-type': type } }),
      )
      pages++
    }
  } finally {
    await hook.close?.()
  }
  return pages
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function filesIn(folder: string): string[] {
  if (!isFolder(folder)) throw new UsageError(`'${folder}' is not a folder`)
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => Object.hasOwn(TYPES, extname(name).toLowerCase()))
    .sort()
}
