/** Reads JSON Feed 1.0 and 1.1. Programs add items by hand, so every value is checked, and a cut feed counts up to the cut. */

import type { Feed, FeedEntry, FeedProblem } from '../contract.js'
import { isoDate } from './dates.js'
import { Draft } from './draft.js'
import { HintDraft } from './hints.js'
import { absoluteUrl, isHttpUrl } from './links.js'
import { withAbsoluteLinks } from './markup-links.js'
import { collapsed } from './people.js'

type Json = Record<string, unknown>

/** How a feed is read. */
export interface JsonOptions {
  readonly base: string | undefined
  readonly maxEntries: number
}

const VERSION = /jsonfeed\.org\/version\/([\d.]+)/

/** The feed in a text; undefined if it is another kind of JSON, or none. */
export function readJson(text: string, options: JsonOptions): Feed | undefined {
  let root: unknown
  const problems = new Set<FeedProblem>()
  try {
    root = JSON.parse(text)
  } catch {
    const { value, isCut } = repaired(text)
    root = value
    problems.add(isCut ? 'truncated' : 'bad-json')
  }
  return isObject(root) && looksLikeFeed(root) ? new JsonFeed(root, options, problems).feed() : undefined
}

function looksLikeFeed(root: Json): boolean {
  const { version, items } = root
  if (typeof version === 'string' && VERSION.test(version)) return true
  return Array.isArray(items) && (textOf(root.title) !== '' || textOf(root.home_page_url) !== '')
}

class JsonFeed {
  readonly #hints = new HintDraft()

  constructor(
    readonly root: Json,
    readonly options: JsonOptions,
    readonly problems: Set<FeedProblem>,
  ) {}

  feed(): Feed {
    const { root, options } = this
    const { base } = options
    const draft = new Draft(base)
    this.#addAuthors(root, draft)
    const link = (value: unknown) => absoluteUrl(textOf(value), base)
    this.#hints.setLink('self', link(root.feed_url))
    this.#hints.setLink('next', link(root.next_url))
    for (const hub of listOf(root.hubs)) if (isObject(hub)) this.#hints.setLink('hub', link(hub.url))
    this.#hints.expired = root.expired === true
    const items = listOf(root.items)
    if (items.length > options.maxEntries) this.problems.add('too-many-entries')
    const entries: FeedEntry[] = []
    for (const item of items.slice(0, options.maxEntries)) if (isObject(item)) entries.push(this.#entry(item))
    return {
      kind: 'json',
      version: VERSION.exec(textOf(root.version))?.[1],
      title: collapsed(textOf(root.title)) || undefined,
      link: link(root.home_page_url),
      id: undefined,
      description: textOf(root.description) || undefined,
      author: draft.author,
      language: textOf(root.language) || undefined,
      published: undefined,
      updated: undefined,
      generator: undefined,
      entries,
      hints: this.#hints.hints(),
      problems: [...this.problems],
    }
  }

  #entry(item: Json): FeedEntry {
    const { base } = this.options
    const draft = new Draft(base)
    const id = textOf(item.id)
    draft.setText('id', id, 0)
    draft.setUrl(absoluteUrl(textOf(item.url), base), 0)
    draft.setUrl(absoluteUrl(textOf(item.external_url), base), 1)
    if (isHttpUrl(id)) draft.setUrl(id, 2)
    draft.setText('title', collapsed(textOf(item.title)), 0)
    draft.setText('summary', textOf(item.summary), 0)
    draft.setText('content', withAbsoluteLinks(textOf(item.content_html), base), 0)
    draft.setText('content', textOf(item.content_text), 1)
    this.#setDate(draft, 'published', item.date_published)
    this.#setDate(draft, 'updated', item.date_modified)
    this.#addAuthors(item, draft)
    for (const tag of listOf(item.tags)) draft.addCategory(collapsed(textOf(tag)))
    for (const file of listOf(item.attachments)) {
      if (!isObject(file)) continue
      const size = textOf(file.size_in_bytes) || undefined
      draft.addEnclosure(absoluteUrl(textOf(file.url), base), textOf(file.mime_type) || undefined, size)
    }
    return draft.entry()
  }

  #setDate(draft: Draft, field: 'published' | 'updated', value: unknown): void {
    const written = textOf(value)
    if (written === '') return
    const date = isoDate(written)
    if (date === undefined) this.problems.add('bad-date')
    else draft.setDate(field, date, 0)
  }

  /** `authors` of version 1.1, `author` of version 1.0. */
  #addAuthors(from: Json, draft: Draft): void {
    for (const author of [...listOf(from.authors), from.author]) {
      if (isObject(author)) draft.addAuthor(collapsed(textOf(author.name)), 0)
      else draft.addAuthor(collapsed(textOf(author)), 0)
    }
  }
}

/** A number is a text too: ids are often numbers. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value.trim()
  return typeof value === 'number' ? String(value) : ''
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const COMMA = 0x2c
const LESS_THAN_SPACE = 0x20
/** Deeper JSON is no feed. */
const DEEPEST = 64

/**
 * The value of JSON that is cut off, or has control characters, trailing commas or something behind it: it is read up to the
 * last complete value, and what is open there is closed.
 */
function repaired(text: string): { readonly value: unknown; readonly isCut: boolean } {
  const open: string[] = []
  let inString = false
  /** Everything up to here, with `closing` behind it, is valid. */
  let complete = 0
  let closing = ''
  let result = ''
  let copied = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === BACKSLASH) at++
      else if (code === QUOTE) inString = false
      else if (code < LESS_THAN_SPACE) {
        result += `${text.slice(copied, at)}\\u${code.toString(16).padStart(4, '0')}`
        copied = at + 1
      }
    } else if (code === QUOTE) inString = true
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (open.length >= DEEPEST) break
      open.push(code === OPEN_BRACE ? '}' : ']')
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      const before = lastInk(text, at)
      if (before >= copied && text.charCodeAt(before) === COMMA) {
        result += text.slice(copied, before)
        copied = before + 1
      }
      open.pop()
      complete = result.length + at + 1 - copied
      closing = open.toReversed().join('')
      if (open.length === 0) {
        result += text.slice(copied, at + 1)
        return { value: parsed(result), isCut: false }
      }
    }
  }
  result += text.slice(copied)
  return { value: complete === 0 ? undefined : parsed(result.slice(0, complete) + closing), isCut: true }
}

function lastInk(text: string, before: number): number {
  let at = before - 1
  while (at >= 0 && text.charCodeAt(at) <= LESS_THAN_SPACE) at--
  return at
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
