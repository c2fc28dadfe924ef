/** A web of feeds in virtual time: each test says what a URL answers. */

import { Crawler } from 'kumo'
import type { FeedEvent, FeedsOptions } from 'kumo/feeds'
import { virtualClock } from 'kumo/sim'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A request as the web has seen it. */
export interface Asked {
  readonly url: string
  readonly at: number
  readonly headers: Readonly<Record<string, string>>
  readonly etag: string | undefined
}

export type Web = (asked: Asked) => Answer | 'timeout'

export interface Item {
  readonly id: string
  readonly at: number
  readonly title?: string
}

/** RSS with these items, the newest first. */
export function rss(items: readonly Item[], more = ''): string {
  const entries = items.map(
    ({ id, at, title = `Post ${id}` }) =>
      `<item><guid>${id}</guid><link>https://blog.example/${id}</link><title>${title}</title><pubDate>${new Date(at).toUTCString()}</pubDate></item>`,
  )
  return `<rss version="2.0"><channel><title>Blog</title><link>https://blog.example/</link>${more}${entries.join('')}</channel></rss>`
}

/** Follows feeds of a web for a while, in virtual time. */
export async function follow(
  seeds: string | readonly string[],
  web: Web,
  options: FeedsOptions & { readonly days?: number; readonly with?: (crawler: Crawler) => Crawler },
) {
  const { days = 1, with: adapt = (crawler: Crawler) => crawler, ...feeds } = options
  const clock = virtualClock()
  const start = clock.now()
  const asked: Asked[] = []
  const events: FeedEvent[] = []
  const failures: { code: string; final: boolean; at: number }[] = []
  const pages: { url: string; label: string | undefined; data: unknown }[] = []
  const crawler = new Crawler()
    .seeds([seeds].flat())
    .clock(clock)
    .random({ next: () => 0.5 })
    .robots(false)
    .depth(0)
    .limit({ time: days * DAY })
    .feeds(feeds)
    .fetcher((request, context) => {
      const headers = request.extras?.headers ?? {}
      const one = { url: request.url, at: clock.now(), headers, etag: context.known?.etag }
      asked.push(one)
      const answer = web(one)
      if (answer === 'timeout') return { ok: false, code: 'timeout', message: 'no answer' }
      const { status = 200, headers: given = {}, body = '' } = answer
      const bytes = Buffer.from(body)
      const all = new Map(Object.entries({ 'content-type': 'application/xml', ...given }))
      const wireBytes = bytes.length
      return { ok: true, status, headers: all, body: bytes, wireBytes, skippedBody: false }
    })
    .on('feed', (event) => void events.push(event))
    .on('page', ({ url, request }) => void pages.push({ url, label: request.label, data: request.data }))
    .on('failure', ({ code, final }) => void failures.push({ code, final, at: clock.now() }))
  const summary = await clock.run(adapt(crawler).run())
  return {
    start,
    asked,
    events,
    failures,
    pages,
    summary,
    keys: events.flatMap((each) => each.new.map(({ id }) => id)),
  }
}

/** The times between requests for a URL. */
export function gaps(asked: readonly Asked[], url: string): number[] {
  const times = asked.filter((each) => each.url === url).map(({ at }) => at)
  return times.slice(1).map((at, index) => at - times[index]!)
}
