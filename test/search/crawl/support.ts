/** A site on many hosts whose pages a seed decides, and crawls that index it. */

import { Crawler, level } from 'kumo'
import { type SearchIndexOptions, searchIndex } from 'kumo/search'
import { onTestFinished } from 'vitest'
import { type LoopbackSite, type Route, startSite } from '../../loopback/site.js'
import { madeDocuments } from '../corpus.js'

/** Where page `page` of a host is, and what it says. */
export interface MadePage {
  readonly host: string
  readonly path: string
  readonly html: string
}

export const HOSTS = Array.from({ length: 8 }, (_, i) => `127.0.9.${i + 1}`)

/** Pages of each host, with a word that only the host has, and a word that only the version has. */
export function madePages(perHost: number, version = 'first', hosts: readonly string[] = HOSTS): MadePage[] {
  return hosts.flatMap((host, seed) =>
    madeDocuments(perHost, seed + 1).map(({ title = '', sections = [] }, page) => {
      const body = sections.map(
        ({ anchor, heading, text }) => `<h2 id="${anchor}">${heading}</h2><p>${text}</p>`,
      )
      const marks = `${version}${version}x host${host.replaceAll('.', '')} 全文検索`
      return {
        host,
        path: `/${page}`,
        html: `<html lang="en"><title>${title}</title><main><h1>${title}</h1><p>${marks}</p>${body.join('')}</main></html>`,
      }
    }),
  )
}

/** Serves pages, which may be exchanged. */
export async function served(pages: readonly MadePage[]): Promise<{
  readonly site: LoopbackSite
  readonly seeds: readonly string[]
  serve(pages: readonly MadePage[]): void
}> {
  let current = new Map<string, string>()
  const serve = (now: readonly MadePage[]) => {
    current = new Map(now.map(({ host, path, html }) => [host + path, html]))
  }
  serve(pages)
  const route: Route = (request, response) => {
    const html = current.get((request.headers.host ?? '').replace(/:\d+$/, '') + request.url)
    response.writeHead(html === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(html ?? '')
  }
  const site = await startSite(Object.fromEntries(pages.map(({ path }) => [path, route])))
  onTestFinished(() => site.close())
  return { site, seeds: pages.map(({ host, path }) => site.url(path, host)), serve }
}

export interface IndexingCrawl {
  readonly index: string
  readonly workers: number
  readonly store?: string
  readonly options?: SearchIndexOptions
}

/** A crawl of exactly these pages. */
export function indexingCrawl(
  seeds: readonly string[],
  { index, workers, store, options }: IndexingCrawl,
): Crawler {
  const crawler = new Crawler()
    .seeds(seeds)
    .robots(false)
    .delay(0)
    .depth(0)
    .workers(workers, { balance: false })
    .use(searchIndex(index, { sync: false, ...options }))
  return store === undefined ? crawler : crawler.store(level(store)).refresh({ rounds: 1, complete: true })
}
