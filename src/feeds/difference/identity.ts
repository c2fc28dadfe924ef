/**
 * Which entry is which. An entry has up to four names: its id, its link, its title and date, its text. Feeds break each of
 * them: one id for all entries, other ids with every request, links with a token, titles that are corrected.
 */

import { fingerprint, fingerprintText } from '../../url/fingerprint.js'
import type { FeedEntry } from '../contract.js'
import { type EntryRecord, NAMED_BY, type NamedBy, seconds } from './memory.js'

const TAGS = /<[^<>]*>/g
const SPACE = /\s+/g
const SCHEME = /^https?:/i
const WORDS = /[\p{L}\p{N}]+/gu
/** Scripts without spaces between words: pairs of characters instead. */
const UNSPACED = /[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]/
const SAMPLES = 8
/** Equal samples of similar titles: three of eight are met by titles that share half of their words. */
const SIMILAR_SAMPLES = 3
const MOST_WORDS = 100
/** Parts of a name: the name itself, its link, its title and date, its text. */
const MOST_DETAIL = 3

/** An entry with all its names. */
export interface Identified extends EntryRecord {
  readonly entry: FeedEntry
  readonly hasId: boolean
  /** In ms since the epoch. */
  readonly publishedAt: number | undefined
}

/** What a feed's entries are named by. */
export interface Naming {
  readonly namedBy: NamedBy
  readonly detail: number
}

/** The key is set once all names are known. */
interface Traits extends Omit<Identified, 'key'> {
  key: string
}

/** The different entries of a feed; repetitions, and entries with nothing in them, are left out. */
export function identify(
  entries: readonly FeedEntry[],
  naming: Naming,
): { readonly entries: readonly Identified[]; readonly naming: Naming } {
  const traits = entries.flatMap((entry) => traitsOf(entry) ?? [])
  const names = traits.map((each) => nameOf(each, naming.namedBy))
  let { detail } = naming
  let full = names.map((name, at) => detailed(name, traits[at]!, detail))
  for (let level = detail + 1; level <= MOST_DETAIL; level++) {
    const shared = sharedNames(full, traits)
    if (shared.size === 0) break
    const affected = full.filter((name) => shared.has(name)).length
    // Where most names are shared they are so by design, and a single entry may follow alone.
    if (affected * 2 > full.length) detail = level
    full = full.map((name, at) => (shared.has(name) ? detailed(names[at]!, traits[at]!, level) : name))
  }
  const found = new Map<string, Identified>()
  for (const [at, each] of traits.entries()) {
    each.key = fingerprintText(full[at]!)
    if (!found.has(each.key)) found.set(each.key, each)
  }
  return { entries: [...found.values()], naming: { namedBy: naming.namedBy, detail } }
}

/** Names that stand for entries which differ. */
function sharedNames(names: readonly string[], traits: readonly Traits[]): Set<string> {
  const first = new Map<string, Traits>()
  const shared = new Set<string>()
  for (const [at, name] of names.entries()) {
    const other = first.get(name)
    const own = traits[at]!
    if (other === undefined) first.set(name, own)
    else if (other.link !== own.link || other.title !== own.title || other.content !== own.content)
      shared.add(name)
  }
  return shared
}

function traitsOf(entry: FeedEntry): Traits | undefined {
  const title = plain(entry.title ?? '').toLowerCase()
  const text = plain(entry.content ?? entry.summary ?? '')
  if (entry.id === undefined && entry.url === undefined && title === '' && text === '') return undefined
  const date = entry.published ?? entry.updated
  const publishedAt = date === undefined ? undefined : Date.parse(date)
  const words = samplesOf(title)
  return {
    key: '',
    entry,
    hasId: entry.id !== undefined,
    link: hash48(entry.url === undefined ? '' : entry.url.replace(SCHEME, '')),
    title: hash48(title),
    content: hash48(`${plain(entry.title ?? '')}\n${text}`) >>> 0,
    wordsLow: words[0]!,
    wordsHigh: words[1]!,
    published: seconds(publishedAt),
    publishedAt,
  }
}

function nameOf({ entry, published, content }: Traits, namedBy: NamedBy): string {
  const { id } = entry
  if (id !== undefined && namedBy === NAMED_BY.id) return `id ${id}`
  if (entry.url !== undefined && namedBy <= NAMED_BY.link) return `link ${entry.url.replace(SCHEME, '')}`
  const title = plain(entry.title ?? '')
  if (title !== '') return `title ${published} ${title}`
  return entry.url ?? id ?? `text ${content}`
}

function detailed(name: string, { entry, published, content }: Traits, detail: number): string {
  let full = name
  if (detail >= 1) full += `\n${entry.url ?? ''}`
  if (detail >= 2) full += `\n${entry.title ?? ''}\n${published}`
  return detail >= 3 ? `${full}\n${content}` : full
}

/** Text without markup: tokens in the addresses of images, and advertisements around it, are no change. */
function plain(markup: string): string {
  const text = markup.includes('<') ? markup.replace(TAGS, ' ') : markup
  return text.replace(SPACE, ' ').trim()
}

const print = new Uint32Array(2)

/** 48 bits: enough for a hundred thousand entries. Never 0, which stands for nothing. */
function hash48(text: string): number {
  if (text === '') return 0
  fingerprint(text, print)
  return (print[1]! & 0xffff) * 2 ** 32 + print[0]! || 1
}

const least = new Uint32Array(SAMPLES)
const packed = new Uint32Array(2)

/** For each of eight orders of all words, one byte of the word that comes first (MinHash), in two numbers. */
function samplesOf(title: string): Uint32Array {
  least.fill(0xffffffff)
  for (const word of wordsOf(title)) {
    fingerprint(word, print)
    for (let k = 0; k < SAMPLES; k++) {
      const mixed = Math.imul(print[0]! ^ Math.imul(print[1]!, 2 * k + 1), 0x9e3779b1) >>> 0
      const value = (mixed ^ (mixed >>> 15)) >>> 0
      if (value < least[k]!) least[k] = value
    }
  }
  packed.fill(0)
  for (let k = 0; k < SAMPLES; k++) packed[k >> 2]! |= (least[k]! & 0xff) << (8 * (k & 3))
  return packed
}

function wordsOf(title: string): readonly string[] {
  const words: string[] = []
  for (const [word] of title.matchAll(WORDS)) {
    if (words.length >= MOST_WORDS) break
    if (!UNSPACED.test(word)) words.push(word)
    else for (let at = 0; at < word.length - 1 && at < MOST_WORDS; at++) words.push(word.slice(at, at + 2))
  }
  return words
}

/** Whether two titles may be those of one article. A missing title says nothing. */
export function similarTitles(a: EntryRecord, b: EntryRecord): boolean {
  if (a.title === b.title || a.title === 0 || b.title === 0) return true
  return equalBytes(a.wordsLow ^ b.wordsLow) + equalBytes(a.wordsHigh ^ b.wordsHigh) >= SIMILAR_SAMPLES
}

/** Bytes of a 32-bit difference that are zero. */
function equalBytes(difference: number): number {
  let equal = 0
  for (let shift = 0; shift < 32; shift += 8) if (((difference >>> shift) & 0xff) === 0) equal++
  return equal
}
