/** The part of a text that shows best why it was found, with the matches marked. */

import type { Snippet } from '../contract.js'
import { type Group, isPaired } from '../query/group.js'
import type { Analyzer } from '../words/analyzer.js'
import { PAIRED } from '../words/characters.js'
import { normalized, Scanner } from '../words/scanner.js'

/** Characters of a snippet, about. */
const LENGTH = 180
/** Characters before its first match. */
const BEFORE = 50
/** Characters of a text that are looked at. */
const LONGEST_READ = 200_000
const MOST_MATCHES = 400

interface Match {
  readonly start: number
  readonly end: number
  readonly group: number
}

/** Finds matches of a query's groups in texts. One for a search: it remembers words. */
export class Highlighter {
  readonly #groups: readonly Group[]
  /** The group of each term. */
  readonly #terms = new Map<string, number>()
  /** Text of groups without spaces, which are looked for as they are. */
  readonly #runs: readonly { readonly text: string; readonly group: number }[]
  readonly #known = new Map<Analyzer, Map<string, number>>()

  constructor(groups: readonly Group[]) {
    this.#groups = groups
    const runs: { text: string; group: number }[] = []
    for (const [index, { clause, readings }] of groups.entries()) {
      if (readings.some(isPaired)) runs.push({ text: normalized(clause.text).toLowerCase(), group: index })
      for (const reading of readings) {
        if (isPaired(reading)) continue
        for (const terms of reading.slots) for (const { term } of terms) this.#terms.set(term, index)
      }
    }
    this.#runs = runs
  }

  snippet(text: string, analyzer: Analyzer): Snippet {
    const read = text.slice(0, LONGEST_READ)
    const matches = this.#matches(read, analyzer)
    const from = this.#best(matches)
    const start = beginning(read, from)
    const end = ending(read, Math.min(read.length, start + LENGTH))
    const part = read.slice(start, end)
    const ranges = merged(matches.filter((each) => each.start >= start && each.end <= end)).map(
      (each): readonly [number, number] => [each.start - start, each.end - start],
    )
    const before = start > 0 ? '… ' : ''
    const after = end < text.length ? ' …' : ''
    const shifted = ranges.map(([a, b]): readonly [number, number] => [a + before.length, b + before.length])
    const shown = `${before}${part.replace(/\s/g, ' ')}${after}`
    return { text: shown, ranges: shifted, html: toHtml(shown, shifted) }
  }

  #matches(text: string, analyzer: Analyzer): Match[] {
    const plain = normalized(text)
    const places = plain === text ? undefined : originalPlaces(text, plain)
    const matches: Match[] = []
    this.#wordMatches(plain, analyzer, matches)
    if (this.#runs.length > 0) {
      // One letter becomes two in lower case, which would shift everything after it.
      const lower = plain.replaceAll('İ', 'i').toLowerCase()
      for (const { text: run, group } of this.#runs) {
        let at = run === '' ? -1 : lower.indexOf(run)
        while (at >= 0 && matches.length < MOST_MATCHES) {
          matches.push({ start: at, end: at + run.length, group })
          at = lower.indexOf(run, at + run.length)
        }
      }
      matches.sort((a, b) => a.start - b.start)
    }
    if (places === undefined) return matches
    return matches.map(({ start, end, group }) => ({ start: places[start]!, end: places[end]!, group }))
  }

  #wordMatches(plain: string, analyzer: Analyzer, matches: Match[]): void {
    if (this.#terms.size === 0) return
    let known = this.#known.get(analyzer)
    if (known === undefined) {
      known = new Map()
      this.#known.set(analyzer, known)
    }
    const scanner = new Scanner(plain, analyzer.language, analyzer.segmenter)
    while (matches.length < MOST_MATCHES && scanner.next()) {
      const { start, end, kind } = scanner
      if (kind === PAIRED) continue
      const word = plain.slice(start, end)
      let group = known.get(word)
      if (group === undefined) {
        group = this.#terms.get(analyzer.term(word, kind)) ?? -1
        known.set(word, group)
      }
      if (group >= 0) matches.push({ start, end, group })
    }
  }

  /** The start of the match that is followed by the most different ones within a snippet. */
  #best(matches: readonly Match[]): number {
    let best = 0
    let most = 0
    for (const [index, { start }] of matches.entries()) {
      const seen = new Set<number>()
      let count = 0
      for (let at = index; at < matches.length && matches[at]!.end <= start + LENGTH - BEFORE; at++) {
        seen.add(matches[at]!.group)
        count++
      }
      const value = seen.size * 10 + Math.min(count, 5)
      if (value > most) {
        most = value
        best = start
      }
      if (seen.size === this.#groups.length && count > 3) break
    }
    return best
  }
}

/** Where the snippet begins: at a sentence or a word a little before the match. */
function beginning(text: string, match: number): number {
  const from = Math.max(0, match - BEFORE)
  if (from === 0) return 0
  const before = text.slice(from, match)
  const sentence = Math.max(before.lastIndexOf('\n'), before.lastIndexOf('. '), before.lastIndexOf('。'))
  if (sentence >= 0) return from + sentence + (before[sentence] === '.' ? 2 : 1)
  const space = before.indexOf(' ')
  return whole(text, space >= 0 ? from + space + 1 : from)
}

function ending(text: string, end: number): number {
  if (end >= text.length) return text.length
  const space = text.lastIndexOf(' ', end)
  return whole(text, space > end - 20 ? space : end)
}

/** Not in the middle of a character. */
function whole(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at
}

function merged(matches: readonly Match[]): Match[] {
  const result: Match[] = []
  for (const match of matches) {
    const last = result.at(-1)
    if (last !== undefined && match.start < last.end)
      result[result.length - 1] = { ...last, end: Math.max(last.end, match.end) }
    else result.push(match)
  }
  return result
}

/** For each unit of the normal form, where it comes from. Characters are normalized together with the marks after them. */
function originalPlaces(text: string, plain: string): Uint32Array {
  const places = new Uint32Array(plain.length + 1).fill(text.length)
  let at = 0
  for (const { 0: cluster, index } of text.matchAll(CLUSTER)) {
    const { length } = cluster.normalize('NFKC')
    places.fill(index, at, Math.min(at + length, places.length))
    at += length
  }
  return places
}

/** A character and what may join it: marks, half-width voicing signs, vowels and finals of Hangul. */
const CLUSTER = /\P{M}[\p{M}\uff9e\uff9f\u1160-\u11ff]*|\p{M}+/gu

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}

function toHtml(text: string, ranges: readonly (readonly [number, number])[]): string {
  let html = ''
  let at = 0
  for (const [start, end] of ranges) {
    html += `${escapeHtml(text.slice(at, start))}<mark>${escapeHtml(text.slice(start, end))}</mark>`
    at = end
  }
  return html + escapeHtml(text.slice(at))
}
