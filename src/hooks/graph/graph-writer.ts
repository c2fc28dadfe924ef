import { fingerprint } from '../../url/fingerprint.js'
import type { GraphPage } from './contract.js'
import { type GraphDatabase, keyOf, type Put } from './database.js'
import { Incoming } from './incoming.js'
import { BROKEN, encodeNode, PAGE, REDIRECT, relBits } from './node-record.js'
import type { Urls } from './urls.js'

/** Entries that are written together. */
const BATCH = 2000
/** Longer texts of links are cut: they are paragraphs. */
const LONGEST_TEXT = 200
const CONTROL = /\p{Cc}+/gu
/** Between the text and the rel of a link, and between links. */
export const FIELD = '\u001f'
export const LINK = '\u001e'

/**
 * Writes into a graph. An entry for each visited URL replaces the last one, so that nothing is read before it is written;
 * who links to a page is computed later, for all pages at once.
 */
export class GraphWriter {
  readonly #database: GraphDatabase
  readonly #urls: Urls
  readonly #keepsTexts: boolean
  #puts: Put[] = []
  #writing: Promise<void> | undefined = undefined
  #prints = new Uint32Array(256)
  #ids = new Uint32Array(128)
  #sorted = new Uint32Array(128)

  constructor(database: GraphDatabase, urls: Urls, keepsTexts: boolean) {
    this.#database = database
    this.#urls = urls
    this.#keepsTexts = keepsTexts
  }

  /** A promise if the disk is behind: wait for it before you add more. */
  add(page: GraphPage): Promise<void> | undefined {
    const { url, links = [], status = 200, seenAt = 0 } = page
    const count = links.length
    this.#reserve(count + 1)
    fingerprint(url, this.#prints, 0)
    for (let i = 0; i < count; i++) fingerprint(links[i]!.url, this.#prints, 2 * (i + 1))
    this.#urls.resolve(this.#prints, count + 1, this.#ids, (place) =>
      place === 0 ? url : links[place - 1]!.url,
    )
    const own = this.#ids[0]!
    const sorted = this.#sorted
    const unique = sortUnique(this.#ids, count, sorted)
    let marks: [number, number][] = []
    for (let i = 0; i < count; i++) {
      const bits = relBits(links[i]!.rel)
      if (bits !== 0) marks.push([placeOf(sorted, unique, this.#ids[i + 1]!), bits])
    }
    if (marks.length > 1) marks = [...new Map(marks.sort((a, b) => a[0] - b[0]))]
    const head = { kind: PAGE, status, seenAt: Math.floor(seenAt / 1000), marks, reason: '' } as const
    this.#puts.push({ key: keyOf('p', own), value: encodeNode(own, head, sorted, unique) })
    if (this.#keepsTexts) this.#addTexts(own, links, unique)
    return this.#added()
  }

  /** A URL that leads nowhere, or a page that is gone: it has no links any more. */
  drop(url: string, status: number, reason: string, seenAt: number): Promise<void> | undefined {
    return this.#addBare(url, [], { kind: BROKEN, status, seenAt, reason })
  }

  redirect(url: string, to: string, status: number, seenAt: number): Promise<void> | undefined {
    return this.#addBare(url, [to], { kind: REDIRECT, status, seenAt, reason: '' })
  }

  #addBare(
    url: string,
    links: readonly string[],
    {
      seenAt,
      ...more
    }: { kind: typeof BROKEN | typeof REDIRECT; status: number; seenAt: number; reason: string },
  ): Promise<void> | undefined {
    this.#reserve(links.length + 1)
    for (const [i, each] of [url, ...links].entries()) fingerprint(each, this.#prints, 2 * i)
    this.#urls.resolve(this.#prints, links.length + 1, this.#ids, (place) =>
      place === 0 ? url : links[place - 1]!,
    )
    const own = this.#ids[0]!
    const head = { ...more, seenAt: Math.floor(seenAt / 1000), marks: [] }
    this.#puts.push({
      key: keyOf('p', own),
      value: encodeNode(own, head, this.#ids.subarray(1), links.length),
    })
    if (this.#keepsTexts) this.#puts.push({ key: keyOf('a', own), value: null })
    return this.#added()
  }

  #addTexts(own: number, links: NonNullable<GraphPage['links']>, unique: number): void {
    const texts = new Array<string>(unique).fill('')
    let hasText = false
    for (const [i, { text = '', rel = '' }] of links.entries()) {
      if (text === '' && rel === '') continue
      hasText = true
      const clean = text.replace(CONTROL, ' ').slice(0, LONGEST_TEXT)
      texts[placeOf(this.#sorted, unique, this.#ids[i + 1]!)] =
        rel === '' ? clean : clean + FIELD + rel.replace(CONTROL, ' ')
    }
    this.#puts.push({ key: keyOf('a', own), value: hasText ? Buffer.from(texts.join(LINK)) : null })
  }

  #reserve(count: number): void {
    if (this.#ids.length >= count) return
    this.#ids = new Uint32Array(2 * count)
    this.#sorted = new Uint32Array(2 * count)
    this.#prints = new Uint32Array(4 * count)
  }

  #added(): Promise<void> | undefined {
    if (this.#puts.length < BATCH) return undefined
    if (this.#writing === undefined) {
      const writing = this.#write()
      // An error is for whoever flushes.
      writing.catch(() => {})
      return undefined
    }
    return this.#puts.length < 2 * BATCH ? undefined : this.#writing.catch(() => {})
  }

  /** Resolves once everything added so far would survive a kill. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined || this.#puts.length > 0) await (this.#writing ?? this.#write())
  }

  #write(): Promise<void> {
    const puts = this.#puts
    this.#puts = []
    // The numbers of URLs come first: an entry never names a number without a URL.
    const all = [Incoming.invalidation, ...this.#urls.takeFresh(), ...puts]
    this.#writing = this.#database.write(all).finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }
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
