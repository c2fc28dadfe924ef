/**
 * Reads sitemaps as they occur on the web: XML, plain lists and feeds, compressed or not, complete or not. The caller pushes
 * slices and can do other work in between, so that fifty megabytes block nothing.
 */

import { invalidOption } from '../../errors.js'
import { systemClock } from '../../time.js'
import type { MaybePromise } from '../../types.js'
import type { SitemapEntry } from '../contract.js'
import { SitemapDecoder } from './charset.js'
import type { SitemapOptions, SitemapProblem, SitemapProblemCode, SitemapReader } from './contract.js'
import { Gunzip, isGzip } from './gzip.js'
import { ListSitemap } from './list.js'
import { SitemapOutput } from './output.js'
import { LOOKS_LIKE_XML, XmlSitemap } from './xml.js'

/** The limits of the protocol (sitemaps.org). */
const MAX_BYTES = 52_428_800
const MAX_ENTRIES = 50_000

const GZIP_MAGIC_BYTES = 2
const NO_BYTES = new Uint8Array(0)

/** Text without a recognizable format in its first characters is a list of URLs. */
const SNIFFED_CHARACTERS = 1024

/** Reading a slice of this size takes a millisecond, or ten if it consists of the smallest tags or of empty lines. */
const SLICE_BYTES = 131_072

/**
 * Creates a reader for one sitemap.
 *
 * @example
 * const reader = sitemapReader()
 * for await (const piece of createReadStream('sitemap.xml.gz')) {
 *   for (const { url } of await reader.push(piece)) console.log(url)
 * }
 * for (const { url } of await reader.end()) console.log(url)
 */
export function sitemapReader(options: SitemapOptions = {}): SitemapReader {
  return new Reader(options)
}

/**
 * Reads a complete sitemap slice by slice: nothing is read until the next slice is requested, and each takes a few
 * milliseconds.
 */
export async function* sitemapSlices(
  body: Uint8Array | string,
  reader: SitemapReader = sitemapReader(),
): AsyncGenerator<readonly SitemapEntry[]> {
  for (let at = 0; at < body.length && !reader.stopped; at += SLICE_BYTES) {
    const end = at + SLICE_BYTES
    yield await reader.push(typeof body === 'string' ? body.slice(at, end) : body.subarray(at, end))
  }
  yield await reader.end()
}

/**
 * Reads a complete sitemap. Other work can run between slices.
 *
 * @example
 * const { entries, problems } = await parseSitemap(await readFile('sitemap.xml'))
 */
export async function parseSitemap(
  body: Uint8Array | string,
  options: SitemapOptions = {},
): Promise<{ readonly entries: SitemapEntry[]; readonly problems: readonly SitemapProblem[] }> {
  const reader = sitemapReader(options)
  const clock = systemClock()
  const entries: SitemapEntry[] = []
  for await (const slice of sitemapSlices(body, reader)) {
    for (const entry of slice) entries.push(entry)
    if (body.length > SLICE_BYTES && !reader.stopped)
      await new Promise<void>((resolve) => clock.wakeAt(0, resolve))
  }
  return { entries, problems: reader.problems }
}

class Reader implements SitemapReader {
  readonly #output: SitemapOutput
  readonly #alternates: boolean
  #bytesLeft: number
  /** The first bytes, until there are enough to recognize gzip; then undefined. */
  #head: Uint8Array | undefined = NO_BYTES
  #gunzip: Gunzip | undefined
  readonly #decoder = new SitemapDecoder()
  /** The first text, until the format is known. */
  #sniffed = ''
  #format: XmlSitemap | ListSitemap | undefined
  #ended = false

  constructor({ maxBytes = MAX_BYTES, maxEntries = MAX_ENTRIES, alternates = false }: SitemapOptions) {
    this.#bytesLeft = checked('maxBytes', maxBytes)
    this.#output = new SitemapOutput(checked('maxEntries', maxEntries))
    this.#alternates = alternates
  }

  get stopped(): boolean {
    return this.#output.stopped
  }

  get problems(): readonly SitemapProblem[] {
    return this.#output.problems
  }

  push(piece: Uint8Array | string): MaybePromise<SitemapEntry[]> {
    if (this.#ended || this.stopped) return []
    if (this.#gunzip !== undefined && typeof piece !== 'string') return this.#unpack(this.#gunzip, piece)
    const begun = typeof piece === 'string' ? piece : this.#withHead(piece)
    if (typeof begun !== 'string' && isGzip(begun)) {
      this.#gunzip = new Gunzip((unpacked) => this.#read(unpacked))
      return this.#unpack(this.#gunzip, begun)
    }
    this.#read(begun)
    return this.#output.take()
  }

  end(): MaybePromise<SitemapEntry[]> {
    if (this.#ended) return []
    this.#ended = true
    if (this.#gunzip !== undefined) return this.#endGunzip(this.#gunzip)
    if (this.#head !== undefined) this.#read(this.#head)
    this.#finish(undefined)
    return this.#output.take()
  }

  async #unpack(gunzip: Gunzip, bytes: Uint8Array): Promise<SitemapEntry[]> {
    await gunzip.push(bytes)
    return this.#output.take()
  }

  async #endGunzip(gunzip: Gunzip): Promise<SitemapEntry[]> {
    const end = await gunzip.end()
    gunzip.stop()
    this.#finish(end === 'complete' ? undefined : end)
    return this.#output.take()
  }

  /** The chunk with the bytes held back before it; nothing while there are too few to recognize gzip. */
  #withHead(piece: Uint8Array): Uint8Array {
    if (this.#head === undefined) return piece
    const bytes = this.#head.length === 0 ? piece : Buffer.concat([this.#head, piece])
    const enough = bytes.length >= GZIP_MAGIC_BYTES
    this.#head = enough ? undefined : bytes
    return enough ? bytes : NO_BYTES
  }

  #read(piece: Uint8Array | string): void {
    if (this.stopped) return
    const fits = piece.length <= this.#bytesLeft
    const part = fits ? piece : piece.slice(0, this.#bytesLeft)
    this.#bytesLeft -= part.length
    this.#readText(typeof part === 'string' ? part : this.#decoder.push(part))
    if (!fits) this.#finish('too-large')
    if (this.stopped) this.#gunzip?.stop()
  }

  #readText(text: string): void {
    if (this.#format !== undefined) {
      this.#format.push(text)
      return
    }
    this.#sniffed = (this.#sniffed + text).trimStart()
    if (this.#sniffed.length >= SNIFFED_CHARACTERS || this.#sniffed.startsWith('<')) this.#begin()
  }

  #begin(): XmlSitemap | ListSitemap {
    const text = this.#sniffed
    this.#sniffed = ''
    this.#format = LOOKS_LIKE_XML.test(text.slice(0, SNIFFED_CHARACTERS))
      ? new XmlSitemap(this.#output, this.#alternates)
      : new ListSitemap(this.#output)
    this.#format.push(text)
    return this.#format
  }

  /** Reads the rest; `cut` is the reason why there may be more. */
  #finish(cut: SitemapProblemCode | undefined): void {
    if (this.stopped) return
    this.#readText(this.#decoder.end())
    if (cut !== undefined) this.#output.note(cut)
    const format = this.#format ?? this.#begin()
    format.end(cut !== undefined)
    this.#output.stop()
  }
}

function checked(name: string, value: number): number {
  if (value >= 0) return value
  throw invalidOption(`parseSitemap.${name}`, value, 'a number, 0 or more')
}
