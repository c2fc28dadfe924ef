/**
 * Finds broken links and the pages that contain them. Links to other sites are checked too, but not followed further.
 *
 *     npx tsx examples/broken-links.ts https://example.com/
 */

import { Crawler } from 'kumo'

const start = process.argv[2] ?? 'https://example.com/'
const { host } = new URL(start)

/** For each URL, the pages that link to it. */
const referrers = new Map<string, string[]>()
const refer = (from: string, to: string) => {
  const pages = referrers.get(to)
  if (pages === undefined) referrers.set(to, [from])
  else pages.push(from)
}

const broken: { url: string; problem: string }[] = []

const summary = await new Crawler()
  .seeds(start)
  // Follow every link that is on a page of this site, wherever it leads.
  .scope(({ parent }) => parent !== undefined && new URL(parent).host === host)
  .limit({ pages: 1000 })
  .on('page', (page) => {
    if (page.host === host) for (const link of page.links) refer(page.url, link.url)
  })
  // If a redirect leads to a broken page, report the page that contains the original link.
  .on('redirect', ({ url, to }) => {
    for (const page of referrers.get(url) ?? []) refer(page, to)
  })
  .on('failure', ({ url, code, status, final }) => {
    if (final) broken.push({ url, problem: status === undefined ? code : `HTTP ${status}` })
  })
  .run()

// Report at the end: a page that is fetched later may contain the same broken link.
for (const { url, problem } of broken) {
  console.log(`${url}: ${problem}`)
  for (const page of new Set(referrers.get(url))) console.log(`  linked from ${page}`)
}
console.log(`${broken.length} broken ${broken.length === 1 ? 'link' : 'links'} on ${summary.pages} pages`)
