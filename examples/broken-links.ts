/**
 * Finds broken links, also to other sites, and the pages that contain them. `kumo check` does it without a program.
 *
 *     npx tsx examples/broken-links.ts https://example.com/
 */

import { Crawler } from 'kumo'

const start = process.argv[2] ?? 'https://example.com/'
const isInside = (url = '') => URL.canParse(url) && new URL(url).host === new URL(start).host
const referrers = new Map<string, Set<string>>()
const refer = (from: string, to: string) => referrers.set(to, (referrers.get(to) ?? new Set()).add(from))
const [broken, redirects] = [new Map<string, string>(), new Set<string>()]

const crawler = new Crawler()
  .seeds(start)
  .scope(({ parent }) => isInside(parent)) // every link on a page of this site, wherever it leads
  .on('redirect', ({ url, to }) => refer(url, to) && redirects.add(url))
  .on('failure', ({ url, message, final }) => final && broken.set(url, message))
for await (const { url, links } of crawler) if (isInside(url)) for (const link of links) refer(url, link.url)

// Only now are all pages known that contain a link, or one that redirects to it.
const pagesOf = (url: string): string[] =>
  [...(referrers.get(url) ?? [])].flatMap((from) => (redirects.has(from) ? pagesOf(from) : from))
for (const [url, problem] of broken) console.log(`${url}: ${problem}`, pagesOf(url).join(' '))
