import type { GraphPage } from './contract.js'
import { type GraphBatch, type GraphDatabase, keyOf, setKey } from './database.js'
import type { Incoming } from './incoming.js'
import { BROKEN, encodeNode, type NodeRecord, PAGE, REDIRECT, relBits } from './node-record.js'
import type { Urls } from './urls.js'

/** Pages that are written together. */
const BATCH = 2000
/** Longer texts of links are cut: they are paragraphs. */
const LONGEST_TEXT = 200
const CONTROL = /\p{Cc}+/gu
const HAS_CONTROL = /\p{Cc}/u
/** Between the text and the rel of a link, and between links. */
export const FIELD = '\u001f'
export const LINK = '\u001e'

type Head = Omit<NodeRecord, 'links'>
const NO_MARKS: Head['marks'] = []

/**
 * Writes into a graph. An entry for each visited URL replaces the last one, so that nothing is read before it is written;
 * who links to a page is computed later, for all pages at once.
 */
export class GraphWriter {
  readonly #database: GraphDatabase
  readonly #urls: Urls
  readonly #incoming: Incoming
  readonly #keepsTexts: boolean
  /** Filled by `add`, `drop` and `redirect`, emptied by `#write`. */
  #batch: GraphBatch | undefined = undefined
  #pages = 0
  #writing: Promise<void> | undefined = undefined
  /** What could not be written is lost, and later pages may need its numbers. */
  #failure: { readonly error: unknown } | undefined = undefined
  readonly #key = keyOf('p', 0)
  #ids = new Uint32Array(128)
  #sorted = new Uint32Array(128)

  constructor(database: GraphDatabase, urls: Urls, incoming: Incoming, keepsTexts: boolean) {
    this.#database = database
    this.#urls = urls
    this.#incoming = incoming
    this.#keepsTexts = keepsTexts
  }

  /**
   * A promise if the disk is behind: wait for it before you add more.
   *
   * @throws KumoError what a write failed with: open the graph again.
   */
  add(page: GraphPage): Promise<void> | undefined {
    const { url, links = [], status = 200, seenAt = 0 } = page
    const count = links.length
    const urls = new Array<string>(count + 1)
    urls[0] = url
    let hasRel = false
    for (let i = 0; i < count; i++) {
      const link = links[i]!
      urls[i + 1] = link.url
      if (link.rel !== undefined && link.rel !== '') hasRel = true
    }
    this.#resolve(urls)
    const own = this.#ids[0]!
    const unique = sortUnique(this.#ids, count, this.#sorted)
    const marks = hasRel ? this.#marksOf(links, unique) : NO_MARKS
    const head: Head = { kind: PAGE, status, seenAt: Math.floor(seenAt / 1000), marks, reason: '' }
    this.#put(own, head, this.#sorted, unique)
    if (this.#keepsTexts) this.#putTexts(own, links, unique)
    return this.#added()
  }

  /** A URL that leads nowhere, or a page that is gone: it has no links any more. */
  drop(url: string, status: number, reason: string, seenAt: number): Promise<void> | undefined {
    return this.#addBare([url], { kind: BROKEN, status, seenAt, marks: NO_MARKS, reason })
  }

  redirect(url: string, to: string, status: number, seenAt: number): Promise<void> | undefined {
    return this.#addBare([url, to], { kind: REDIRECT, status, seenAt, marks: NO_MARKS, reason: '' })
  }

  #addBare(urls: readonly string[], head: Head): Promise<void> | undefined {
    this.#resolve(urls)
    const own = this.#ids[0]!
    const seenAt = Math.floor(head.seenAt / 1000)
    this.#put(own, { ...head, seenAt }, this.#ids.subarray(1), urls.length - 1)
    if (this.#keepsTexts) this.#batch!.put(setKey(this.#key, 'a', own), null)
    return this.#added()
  }

  #put(own: number, head: Head, links: Uint32Array, count: number): void {
    this.#batch ??= this.#database.batch()
    this.#batch.put(setKey(this.#key, 'p', own), encodeNode(own, head, links, count))
    this.#pages++
  }

  #marksOf(links: NonNullable<GraphPage['links']>, unique: number): Head['marks'] {
    const marks: [number, number][] = []
    for (const [i, { rel }] of links.entries()) {
      const bits = relBits(rel)
      if (bits !== 0) marks.push([placeOf(this.#sorted, unique, this.#ids[i + 1]!), bits])
    }
    return marks.length > 1 ? [...new Map(marks.sort((a, b) => a[0] - b[0]))] : marks
  }

  #putTexts(own: number, links: NonNullable<GraphPage['links']>, unique: number): void {
    const texts = new Array<string>(unique).fill('')
    let hasText = false
    for (let i = 0; i < links.length; i++) {
      const { text = '', rel = '' } = links[i]!
      if (text === '' && rel === '') continue
      hasText = true
      const clean = withoutControls(text).slice(0, LONGEST_TEXT)
      texts[placeOf(this.#sorted, unique, this.#ids[i + 1]!)] =
        rel === '' ? clean : clean + FIELD + withoutControls(rel)
    }
    this.#batch!.put(setKey(this.#key, 'a', own), hasText ? Buffer.from(texts.join(LINK)) : null)
  }

  /** Sets `#ids` to the numbers of URLs. */
  #resolve(urls: readonly string[]): void {
    this.#assertWhole()
    if (this.#ids.length < urls.length) {
      this.#ids = new Uint32Array(2 * urls.length)
      this.#sorted = new Uint32Array(2 * urls.length)
    }
    this.#urls.resolve(urls, this.#ids)
  }

  #added(): Promise<void> | undefined {
    if (this.#pages < BATCH) return undefined
    if (this.#writing === undefined) {
      const writing = this.#write()
      // An error is for whoever flushes.
      writing.catch(() => {})
      return undefined
    }
    return this.#pages < 2 * BATCH ? undefined : this.#writing.catch(() => {})
  }

  /** Resolves once everything added so far would survive a kill; rejects if anything was lost, each time. */
  async flush(): Promise<void> {
    this.#assertWhole()
    while (this.#writing !== undefined || this.#batch !== undefined) await (this.#writing ?? this.#write())
    this.#assertWhole()
  }

  #assertWhole(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  #write(): Promise<void> {
    const batch = this.#batch!
    this.#batch = undefined
    this.#pages = 0
    // In the same batch, so that an entry never names a number without a URL.
    this.#urls.putFresh(batch)
    this.#incoming.invalidate(batch)
    this.#writing = batch
      .write()
      .catch((error: unknown) => {
        this.#failure = { error }
        throw error
      })
      .finally(() => {
        this.#writing = undefined
      })
    return this.#writing
  }
}

function withoutControls(text: string): string {
  return HAS_CONTROL.test(text) ? text.replace(CONTROL, ' ') : text
}

/** Sorts `ids[1…count]` into `into`, each once, and returns how many there are. */
function sortUnique(ids: Uint32Array, count: number, into: Uint32Array): number {
  if (count > SHORT) {
    into.set(ids.subarray(1, count + 1))
    into.subarray(0, count).sort()
  } else {
    for (let i = 0; i < count; i++) {
      const id = ids[i + 1]!
      let at = i
      while (at > 0 && into[at - 1]! > id) into[at] = into[--at]!
      into[at] = id
    }
  }
  let unique = 0
  for (let i = 0; i < count; i++) if (i === 0 || into[i] !== into[i - 1]) into[unique++] = into[i]!
  return unique
}

/** Up to here insertion is faster. */
const SHORT = 48

function placeOf(sorted: Uint32Array, count: number, id: number): number {
  let low = 0
  let high = count
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (sorted[middle]! <= id) low = middle
    else high = middle
  }
  return low
}
