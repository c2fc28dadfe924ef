/** `cache()`: a fetcher in front of another one that keeps answers in an archive and serves them again. */

import { asKumoError, assertKeys, invalidOption } from '../errors.js'
import type { FetchContext, Fetcher, Outcome, Validators, WireExchange } from '../fetch/contract.js'
import { type Clock, type Random, systemRandom } from '../time.js'
import type { CrawlRequest } from '../types.js'
import { Archive } from './archive.js'
import { Captures } from './captures.js'
import type { CacheOptions } from './contract.js'
import type { IndexedCapture } from './format/cdxj.js'
import { freshForMs, mustNotBeKept } from './freshness.js'
import { type ArchivedAnswer, answerOf, replay, resolveCapture } from './replay.js'

/** The settings of a cache, checked. */
export interface CacheSettings {
  readonly folder: string
  readonly mode: 'use' | 'refresh' | 'only'
}

const MODES = ['use', 'refresh', 'only'] as const
const NOT_MODIFIED = 304
/** They say how the server was at that moment, not what the page is. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429])
const FILE_BYTES = 1e9
const LEVEL = 5

/** @throws KumoError `KUMO_INVALID_OPTION` */
export function cacheSettings(folder: unknown, options: CacheOptions): CacheSettings {
  if (typeof folder !== 'string' || folder.trim() === '')
    throw invalidOption('cache', folder, "the path of a folder such as './http'")
  assertKeys('cache', options, ['mode'])
  const { mode = 'use' } = options
  if (!MODES.includes(mode)) throw invalidOption('cache.mode', mode, "'use', 'refresh' or 'only'")
  return { folder, mode }
}

/** Opens the cache of one worker. Closing it closes the other fetcher too. */
export async function openCache(
  web: Fetcher,
  { folder, mode }: CacheSettings,
  worker: number,
  clock: Clock,
): Promise<Fetcher> {
  try {
    const archive = mode === 'only' ? undefined : await openArchive(folder, worker, clock, systemRandom())
    return new CachingFetcher(web, mode, archive, await Captures.load(folder), clock)
  } catch (error) {
    throw asKumoError(error, 'KUMO_ARCHIVE_FAILED', `the cache in ${folder} could not be opened`)
  }
}

function openArchive(folder: string, worker: number, clock: Clock, random: Random): Promise<Archive> {
  const info = { software: 'Kumo', description: 'cache' }
  const settings = { folder, prefix: 'cache', maxBytes: FILE_BYTES, level: LEVEL, credentials: false, info }
  const report = (message: string) => process.emitWarning(message, { type: 'KumoWarning' })
  return Archive.open(settings, worker, () => clock.now(), random, report)
}

class CachingFetcher implements Fetcher {
  readonly #web: Fetcher
  readonly #mode: CacheSettings['mode']
  readonly #archive: Archive | undefined
  readonly #captures: Captures
  readonly #clock: Clock

  constructor(
    web: Fetcher,
    mode: CacheSettings['mode'],
    archive: Archive | undefined,
    captures: Captures,
    clock: Clock,
  ) {
    this.#web = web
    this.#mode = mode
    this.#archive = archive
    this.#captures = captures
    this.#clock = clock
  }

  get capacity(): number | undefined {
    return this.#web.capacity
  }

  async fetch(request: CrawlRequest, context: FetchContext): Promise<Outcome> {
    if (this.#archive === undefined)
      return replay(this.#captures, request, context, Number.POSITIVE_INFINITY, 'the cache')
    const isKept = (request.extras?.method ?? 'GET') === 'GET' && !context.isPrivate
    if (!isKept) return this.#web.fetch(request, context)
    const capture = this.#captures.find(request.url)
    const answer = capture && (await resolveCapture(this.#captures, capture))
    if (capture === undefined || answer === undefined) return this.#fetch(request, context)
    const header = headerOf(answer)
    const isUsed =
      this.#mode === 'use' ||
      this.#clock.now() - capture.date < freshForMs(answer.status, header, capture.date)
    if (isUsed) {
      const outcome = await answerOf(answer, context)
      // The body was not wanted then, and is wanted now.
      if (!(outcome.ok && outcome.truncated && answer.isTruncated)) return outcome
    }
    return this.#fetch(request, context, answer)
  }

  async close(): Promise<void> {
    await this.#archive?.close()
    await this.#web.close?.()
  }

  /** Asks the server. If it says that nothing has changed, the answer is the kept one. */
  async #fetch(request: CrawlRequest, context: FetchContext, kept?: ArchivedAnswer): Promise<Outcome> {
    const known = kept === undefined || kept.isTruncated || context.known ? undefined : validatorsOf(kept)
    const outcome = await this.#web.fetch(request, new RecordingContext(context, context.known ?? known))
    const { exchange } = outcome
    // In the other mode everything is kept: it is to work without the web.
    const isRefused =
      this.#mode === 'refresh' &&
      outcome.ok &&
      mustNotBeKept((name) => outcome.headers.get(name) ?? undefined)
    if (exchange !== undefined && outcome.ok && !isRefused)
      await this.#keep(request, outcome.status, exchange)
    if (kept !== undefined && known !== undefined && outcome.ok && outcome.status === NOT_MODIFIED) {
      const { archived: _, ...answer } = await answerOf(kept, context)
      return { ...answer, wireBytes: outcome.wireBytes, ...(context.records && { exchange }) } as Outcome
    }
    return context.records || exchange === undefined ? outcome : withoutExchange(outcome)
  }

  async #keep(request: CrawlRequest, status: number, exchange: WireExchange): Promise<void> {
    if (status >= 500 || PASSING.has(status)) return
    const capture: IndexedCapture = await this.#archive!.write({
      ...exchange,
      url: request.url,
      id: request.url,
      purpose: 'page',
      method: 'GET',
      status,
    })
    this.#captures.add(capture)
  }
}

/** Of a 304, if one has confirmed the answer, and otherwise its own. */
function headerOf({ headers, updated = [] }: ArchivedAnswer): (name: string) => string | undefined {
  const isNamed = (name: string) => (line: readonly [string, string]) => line[0].toLowerCase() === name
  return (name) => (updated.findLast(isNamed(name)) ?? headers.findLast(isNamed(name)))?.[1]
}

function validatorsOf(answer: ArchivedAnswer): Validators | undefined {
  const header = headerOf(answer)
  const [etag, modified] = [header('etag'), header('last-modified')]
  return etag === undefined && modified === undefined ? undefined : { etag, modified }
}

/** An outcome has its exchange only where it is asked for. */
function withoutExchange(outcome: Outcome): Outcome {
  if (!outcome.ok) return { ...outcome, exchange: undefined }
  const { status, headers, body, wireBytes, skippedBody, truncated, resent } = outcome
  return { ok: true, status, headers, body, wireBytes, skippedBody, truncated, resent }
}

/** The context of the crawl, for a fetch whose exchange is recorded. */
class RecordingContext implements FetchContext {
  readonly records = true
  readonly #context: FetchContext

  constructor(
    context: FetchContext,
    readonly known: Validators | undefined,
  ) {
    this.#context = context
  }

  wants(mediaType: string): boolean {
    return this.#context.wants(mediaType)
  }

  get maxBodyBytes(): number | undefined {
    return this.#context.maxBodyBytes
  }

  get cutsBody(): boolean | undefined {
    return this.#context.cutsBody
  }

  get signal(): AbortSignal {
    return this.#context.signal
  }

  get aborted(): boolean {
    return this.#context.aborted
  }

  get onAbort(): (() => void) | undefined {
    return this.#context.onAbort
  }

  set onAbort(callback: (() => void) | undefined) {
    this.#context.onAbort = callback
  }
}
