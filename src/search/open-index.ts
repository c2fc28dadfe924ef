/** Opens an index, or several as one, for searching. */

import { assertKeys, invalidOption, optionError } from '../errors.js'
import { parseDuration } from '../time.js'
import type { OpenOptions, SearchIndex, Segmenter } from './contract.js'
import { checkSegmenters } from './index/settings.js'
import { partOf } from './parts/local-part.js'
import { MergedIndex, type OpenPart } from './parts/merged-index.js'
import { RemotePart } from './parts/remote-part.js'
import { Reader } from './reader.js'

const TIMEOUT_MS = 5000

/**
 * Opens an index for searching. Other processes may write it meanwhile: each search sees the latest commit. Several
 * indexes, folders or the addresses of `kumo serve` and `searchHandler()`, are searched as one.
 *
 * @throws KumoError `KUMO_INDEX_FAILED` if there is no index, `KUMO_INDEX_DAMAGED`, `KUMO_INDEX_MISMATCH` if it was
 * written with other segmenters, or if several do not go together, `KUMO_INDEX_UNREACHABLE`, `KUMO_INVALID_OPTION`.
 * @example
 * import { openIndex } from 'kumo/search'
 *
 * const index = await openIndex('./index')
 * const { hits, total } = await index.search('install "package manager" -windows')
 * for (const { url, anchor, title, snippet } of hits) console.log(title, `${url}#${anchor ?? ''}`, snippet?.text)
 */
export async function openIndex(
  path: string | readonly string[],
  options: OpenOptions = {},
): Promise<SearchIndex> {
  const paths = Array.isArray(path) ? (path as readonly string[]) : [path as string]
  if (paths.length === 0 || !paths.every((each) => typeof each === 'string' && each !== ''))
    throw invalidOption(
      'openIndex()',
      path,
      'the path of a folder, the address of a search, or a list of both',
    )
  assertKeys('openIndex()', options, ['segmenters', 'synonyms', 'timeout', 'partial'])
  const segmenters = checkSegmenters('openIndex()', options.segmenters)
  const synonyms = synonymsOf(options.synonyms)
  const { partial = false } = options
  const timeoutMs = options.timeout === undefined ? TIMEOUT_MS : parseDuration(options.timeout)
  if (timeoutMs === undefined || !(timeoutMs > 0))
    throw invalidOption('openIndex().timeout', options.timeout, "a duration, such as '5s'")
  if (typeof partial !== 'boolean') throw invalidOption('openIndex().partial', partial, 'true or false')
  const [only, another] = paths
  if (another === undefined && !isAddress(only!)) {
    const reader = new Reader(only!, segmenters, synonyms)
    reader.state()
    return reader
  }
  const twice = paths.find((each, at) => paths.indexOf(each) !== at)
  if (twice !== undefined) throw invalidOption('openIndex()', twice, 'each index once')
  const parts = paths.map((each) => partAt(each, segmenters, synonyms, timeoutMs))
  const index = new MergedIndex(parts, { segmenters, synonyms, partial })
  try {
    await index.open()
  } catch (error) {
    await index.close()
    throw error
  }
  return index
}

function isAddress(path: string): boolean {
  return /^https?:\/\//i.test(path)
}

function partAt(
  path: string,
  segmenters: Readonly<Record<string, Segmenter>>,
  synonyms: ReadonlyMap<string, readonly string[]>,
  timeoutMs: number,
): OpenPart {
  if (isAddress(path)) {
    if (!URL.canParse(path))
      throw optionError('openIndex()', 'an address that is no URL', 'http://host:port/')
    return { part: new RemotePart(new URL(path), timeoutMs), folder: undefined }
  }
  const folder = new Reader(path, segmenters, synonyms)
  return { part: partOf(folder)!, folder }
}

function synonymsOf(groups: OpenOptions['synonyms'] = []): Map<string, readonly string[]> {
  const synonyms = new Map<string, string[]>()
  if (!Array.isArray(groups) || !groups.every(isGroup))
    throw invalidOption('openIndex().synonyms', groups, "lists of words, such as [['js', 'javascript']]")
  for (const group of groups) {
    for (const word of group) {
      const others = group.filter((each: string) => each !== word)
      const key = word.toLowerCase()
      synonyms.set(key, [...(synonyms.get(key) ?? []), ...others])
    }
  }
  return synonyms
}

function isGroup(group: unknown): boolean {
  return Array.isArray(group) && group.every((word) => typeof word === 'string')
}
