/** The packages that most programs use to read feeds, with their answers in our form. */

import { parseFeed as rowanParse } from '@rowanmanning/feed-parser'
import { parseFeed as feedsmithParse } from 'feedsmith'
import RssParser from 'rss-parser'

/** All fields that a program reads; undefined if a package has no such field. */
export interface RivalFeed {
  readonly feed: RivalTexts
  readonly entries: readonly RivalTexts[]
}

type Value = string | Date | null | undefined

export interface RivalTexts {
  readonly title?: Value
  readonly link?: Value
  readonly id?: Value
  readonly author?: Value
  readonly summary?: Value
  readonly content?: Value
  readonly published?: Value
  readonly updated?: Value
}

/** Throws what the package throws. */
export interface Rival {
  readonly name: string
  /** Reads the feed as its users do; fields that are computed on access are accessed. */
  parse(text: string): unknown
  read(text: string): RivalFeed | Promise<RivalFeed>
}

// biome-ignore lint/suspicious/noExplicitAny: each format of feedsmith has another type, and all are read alike
type Loose = any

const first = (value: Loose): Loose => (Array.isArray(value) ? value[0] : value)
const texts = (value: Loose): string | undefined =>
  typeof value === 'string' ? value : typeof value?.value === 'string' ? value.value : undefined

function feedsmithPerson(value: Loose): string | undefined {
  const person = first(value)
  if (typeof person === 'string') return person
  if (person?.name && person?.email) return `${person.name} (${person.email})`
  return person?.name ?? person?.email
}

function feedsmithLink(part: Loose): string | undefined {
  if (typeof part.link === 'string') return part.link
  const links: Loose[] = part.links ?? part.atom?.links ?? []
  const alternate = links.find(({ rel }) => rel === undefined || rel === 'alternate')
  return (
    alternate?.href ??
    part.url ??
    part.home_page_url ??
    (part.guid?.isPermaLink === false ? undefined : part.guid?.value)
  )
}

function feedsmithTexts(part: Loose): RivalTexts {
  return {
    title: texts(part.title) ?? first(part.dc?.titles) ?? part.dc?.title ?? texts(part.media?.title),
    link: feedsmithLink(part),
    id: part.guid?.value ?? part.id ?? part.rdf?.about,
    author:
      feedsmithPerson(part.authors) ??
      feedsmithPerson(part.author) ??
      part.managingEditor?.name ??
      feedsmithPerson(part.managingEditor) ??
      first(part.dc?.creators) ??
      part.dc?.creator ??
      part.itunes?.author,
    summary:
      texts(part.description) ??
      texts(part.summary) ??
      texts(part.subtitle) ??
      texts(part.tagline) ??
      part.itunes?.summary ??
      part.itunes?.subtitle ??
      first(part.dc?.descriptions) ??
      part.dc?.description,
    content: part.content?.encoded ?? texts(part.content) ?? part.content_html ?? part.content_text,
    published:
      part.pubDate ??
      part.published ??
      part.date_published ??
      first(part.dcterms?.issued) ??
      first(part.dc?.dates) ??
      part.dc?.date,
    updated:
      part.updated ??
      part.lastBuildDate ??
      part.date_modified ??
      first(part.dcterms?.modified) ??
      first(part.dc?.dates) ??
      part.dc?.date,
  }
}

export const feedsmith: Rival = {
  name: 'feedsmith',
  parse: (text) => feedsmithParse(text),
  read(text) {
    const { feed } = feedsmithParse(text) as Loose
    const items: Loose[] = feed.items ?? feed.entries ?? []
    return { feed: feedsmithTexts(feed), entries: items.map(feedsmithTexts) }
  },
}

/**
 * The same package, as a program uses it that knows the formats and not their modules: each field from the element of its
 * format. feedsmith has a type for each format and returns modules apart, so that reading them is up to its users.
 */
export const feedsmithCore: Rival = {
  name: 'feedsmith, fields of the format only',
  parse: feedsmith.parse,
  read(text) {
    const { feed } = feedsmithParse(text) as Loose
    const items: Loose[] = feed.items ?? feed.entries ?? []
    return { feed: coreTexts(feed), entries: items.map(coreTexts) }
  },
}

function coreTexts(part: Loose): RivalTexts {
  const alternate = (part.links as Loose[] | undefined)?.find(
    ({ rel }) => rel === undefined || rel === 'alternate',
  )
  return {
    title: texts(part.title),
    link: typeof part.link === 'string' ? part.link : (alternate?.href ?? part.url ?? part.home_page_url),
    id: part.guid?.value ?? part.id,
    author: texts(first(part.authors)) ?? first(part.authors)?.name ?? feedsmithPerson(part.managingEditor),
    summary:
      texts(part.description) ??
      texts(part.summary) ??
      texts(part.subtitle) ??
      texts(part.tagline) ??
      undefined,
    content: part.content?.encoded ?? texts(part.content) ?? part.content_html ?? part.content_text,
    published: part.pubDate ?? part.published ?? part.date_published,
    updated: part.updated ?? part.lastBuildDate ?? part.date_modified,
  }
}

const rssParser = new RssParser<object, object>()

const rssParserRival: Rival = {
  name: 'rss-parser',
  parse: (text) => rssParser.parseString(text),
  async read(text) {
    const feed = (await rssParser.parseString(text)) as Loose
    return {
      feed: { title: feed.title, link: feed.link, summary: feed.description, updated: feed.lastBuildDate },
      entries: (feed.items as Loose[]).map((item) => ({
        title: item.title,
        link: item.link,
        id: item.guid ?? item.id,
        author: item.creator ?? item.author,
        summary: item.summary,
        content: item['content:encoded'] ?? item.content,
        published: item.isoDate ?? item.pubDate,
      })),
    }
  },
}

const rowanPerson = (authors: Loose): string | undefined => first(authors)?.name ?? first(authors)?.email

const rowan: Rival = {
  name: '@rowanmanning/feed-parser',
  parse: (text) => rowan.read(text),
  read(text) {
    const feed = rowanParse(text) as Loose
    return {
      feed: {
        title: feed.title,
        link: feed.url,
        author: rowanPerson(feed.authors),
        summary: feed.description,
        published: feed.published,
        updated: feed.updated,
      },
      entries: (feed.items as Loose[]).map((item) => ({
        title: item.title,
        link: item.url,
        id: item.id,
        author: rowanPerson(item.authors),
        summary: item.description,
        content: item.content,
        published: item.published,
        updated: item.updated,
      })),
    }
  },
}

export const RIVALS: readonly Rival[] = [feedsmith, rssParserRival, rowan]
