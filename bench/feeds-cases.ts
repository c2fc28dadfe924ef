/** The cases of the feed suite that expect a field, and how they are scored: the same for Kumo and for other packages. */

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { parseFeed } from '../src/feeds/index.js'
import type { Rival, RivalFeed, RivalTexts } from './feeds-rivals.js'

const SUITE = fileURLToPath(new URL('../../shared/suites/feeds/feedparser.json.gz', import.meta.url))

export interface FeedCase {
  readonly file: string
  readonly bytes: Buffer
  readonly where: 'feed' | 'entry'
  /** Undefined: the case must only be read without a throw. */
  readonly field: string | undefined
  readonly want: string | { readonly utc: string }
}

/** All cases; undefined if the suite is not there. */
export function feedCases(): FeedCase[] | undefined {
  if (!existsSync(SUITE)) return undefined
  const cases = JSON.parse(gunzipSync(readFileSync(SUITE)).toString()) as (FeedCase & { xml_b64: string })[]
  return cases.map((each) => ({ ...each, bytes: Buffer.from(each.xml_b64, 'base64') }))
}

/** What Kumo reads, with the headers that the case names in its first comment if `headers`. */
export function kumoFeed({ bytes }: FeedCase, headers: boolean): RivalFeed {
  const head = headers ? bytes.toString('latin1', 0, 1500) : ''
  const header = (name: string) => new RegExp(`^Header:\\s*${name}:(.*)$`, 'im').exec(head)?.[1]?.trim()
  const feed = parseFeed(bytes, {
    contentType: header('Content-type'),
    contentLocation: header('Content-Location'),
  })
  if (feed.kind === 'none') return { feed: {}, entries: [] }
  return {
    feed: { ...feed, summary: feed.description },
    entries: feed.entries.map((entry) => ({ ...entry, link: entry.url })),
  }
}

/** What another package reads; undefined if it throws. Packages take text, which they get as UTF-8. */
export async function rivalFeed({ bytes }: FeedCase, rival: Rival): Promise<RivalFeed | undefined> {
  try {
    return await rival.read(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

const FIELDS: Readonly<Record<string, readonly (keyof RivalTexts)[]>> = {
  description: ['summary', 'content'],
  summary: ['summary', 'content'],
  subtitle: ['summary', 'content'],
  tagline: ['summary', 'content'],
  content: ['content', 'summary'],
  published_parsed: ['published'],
  updated_parsed: ['updated'],
  title: ['title'],
  link: ['link'],
  id: ['id'],
  author: ['author'],
}

/** Whether the field is what the case expects. White space is folded; a description may be a summary or the content. */
export function isMet({ where, field, want }: FeedCase, read: RivalFeed | undefined): boolean {
  const from = where === 'feed' ? read?.feed : read?.entries[0]
  if (from === undefined || field === undefined) return false
  return (FIELDS[field] ?? []).some((name) => {
    const value = from[name]
    if (typeof want === 'string') return typeof value === 'string' && folded(value) === folded(want)
    return value != null && new Date(value).getTime() === Date.parse(want.utc)
  })
}

function folded(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
