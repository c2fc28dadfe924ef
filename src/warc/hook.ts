/** `warc()`: the hook that archives a crawl. */

import { asKumoError, assertKeys, invalidOption, optionError } from '../errors.js'
import type { HttpExchange } from '../fetch/contract.js'
import type { Hook } from '../hooks/contract.js'
import { withRecipe } from '../modules/recipe.js'
import { systemClock, systemRandom } from '../time.js'
import type { MaybePromise } from '../types.js'
import { Archive, type ArchiveSettings } from './archive.js'
import type { WarcOptions } from './contract.js'

const KEYS = ['size', 'gzip', 'prefix', 'credentials', 'info']
/** Files are 1 to 2 % larger than with level 6, and take four fifths of its time: see decision 0034. */
const DEFAULT_LEVEL = 5
const DEFAULT_BYTES = 1e9
/** Smaller files would have more overhead than content. */
const MIN_BYTES = 1000
const SIZE = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?$/i

/**
 * Writes every request and response of a crawl, robots.txt and redirects included, into WARC 1.1 files in a folder. With
 * workers, each writes files of its own.
 *
 * @example
 * new Crawler().seeds('https://example.com/').use(warc('./archive', { size: '500MB' }))
 */
export function warc(folder: string, options: WarcOptions = {}): Hook {
  const settings = checked(folder, options)
  return withRecipe(archiveHook(settings), 'warc', settings.folder, options)
}

/** A hook over an archive that is opened with the crawl. */
function archiveHook(settings: ArchiveSettings): Hook {
  let archive: Archive | undefined
  const failed = (error: unknown) =>
    asKumoError(error, 'KUMO_ARCHIVE_FAILED', `the archive in ${settings.folder} could not be written`)
  const guarded = async (action: () => MaybePromise<unknown>): Promise<void> => {
    try {
      await action()
    } catch (error) {
      throw failed(error)
    }
  }
  return {
    name: `warc ${settings.folder}`,
    async open({ worker = 0 }) {
      const { now } = systemClock()
      const report = (message: string) => process.emitWarning(message, { type: 'KumoWarning' })
      try {
        archive = await Archive.open(settings, worker, now, systemRandom(), report)
      } catch (error) {
        throw failed(error)
      }
    },
    exchange(exchange: HttpExchange) {
      try {
        const captured = archive?.write(exchange)
        if (captured instanceof Promise) return guarded(() => captured)
      } catch (error) {
        throw failed(error)
      }
    },
    flush: () => guarded(() => archive?.flush()),
    close: () => guarded(() => archive?.close()),
  }
}

function checked(folder: unknown, options: WarcOptions): ArchiveSettings {
  if (typeof folder !== 'string' || folder.trim() === '')
    throw invalidOption('warc', folder, "the path of a folder such as './archive'")
  assertKeys('warc', options, KEYS)
  const { size = DEFAULT_BYTES, gzip = true, prefix = 'kumo', credentials = false, info = {} } = options
  if (typeof prefix !== 'string' || !/^[\w-]+$/.test(prefix))
    throw invalidOption('warc.prefix', prefix, "letters, digits, '_' and '-'")
  if (typeof credentials !== 'boolean') throw invalidOption('warc.credentials', credentials, 'true or false')
  const isInfo =
    typeof info === 'object' && info !== null && Object.values(info).every((each) => typeof each === 'string')
  if (!isInfo) throw optionError('warc.info', typeof info, "texts by name, such as { operator: 'Jane Doe' }")
  return {
    folder,
    prefix,
    maxBytes: sizeOf(size),
    level: levelOf(gzip),
    credentials,
    info: { software: SOFTWARE, ...info },
  }
}

const SOFTWARE = 'Kumo'

function levelOf(gzip: unknown): number {
  if (typeof gzip === 'boolean') return gzip ? DEFAULT_LEVEL : 0
  if (Number.isInteger(gzip) && Number(gzip) >= 1 && Number(gzip) <= 9) return Number(gzip)
  throw invalidOption('warc.gzip', gzip, 'true, false, or a level from 1 to 9')
}

function sizeOf(size: unknown): number {
  const [, number, unit = '', binary = ''] = SIZE.exec(String(size)) ?? []
  const power = ['', 'k', 'm', 'g', 't'].indexOf(unit.toLowerCase())
  const bytes = number === undefined ? Number.NaN : Number(number) * (binary === '' ? 1000 : 1024) ** power
  if (bytes >= MIN_BYTES) return bytes
  throw invalidOption('warc.size', size, "a number of bytes, or a text such as '1GB' or '512MiB'")
}
