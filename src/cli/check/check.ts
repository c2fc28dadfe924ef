/** `kumo check`: finds broken links and redirects, and the pages that contain them. */

import { hints } from '../crawl/summary.js'
import { counted, wrap } from '../format.js'
import { runCrawl } from '../run-crawl.js'
import { DEFAULT_WIDTH, Screen } from '../screen.js'
import { readCheckCommandLine } from './command-line.js'
import { LinkCheck } from './findings.js'
import { headline, reportJson, reportLines } from './report.js'

/** A page is read up to here: what is longer has its links in front. */
const MAX_BODY_BYTES = 8 * 1024 * 1024

/** Resolves with the exit code. */
export async function checkCommand(args: readonly string[]): Promise<number> {
  const { crawler, site, checksExternal, accepted, isJson, isQuiet, seedFile } =
    await readCheckCommandLine(args)
  const screen = new Screen(process.stdout, process.stderr, process.env.TERM)
  const links = new LinkCheck({ isInside: (url) => site.includes(url), checksExternal, accepted })
  const crawl = crawler
    // A link that asks not to be followed can be broken like any other.
    .robots({ nofollow: false })
    .maxBodyBytes(MAX_BODY_BYTES, { truncate: true })
    .on('page', (page) => links.page(page))
    .on('failure', (failure) => links.failure(failure))
    .on('redirect', (redirect) => links.redirect(redirect))
    .on('skip', (skip) => links.skip(skip))
  const summary = await runCrawl(crawl, { screen, isQuiet, aborter: new AbortController() }).finally(() =>
    seedFile?.close(),
  )
  const findings = links.findings()
  const lines = isJson ? reportJson(findings, summary) : reportLines(findings)
  // `| head` closes the pipe; the exit code says what was found all the same.
  process.stdout.on('error', () => {})
  process.stdout.write(lines.map((line) => `${line}\n`).join(''))
  if (!isQuiet) screen.note(...notes())
  return findings.broken.length > 0 || findings.pages === 0 ? 1 : 0

  function notes(): string[] {
    const { robots = 0 } = summary.skips
    const left = summary.pending + summary.inFlight
    const unchecked = [
      ...(robots > 0 ? [`${counted(robots, 'URL')} disallowed by robots.txt`] : []),
      ...(left > 0 ? [`${counted(left, 'URL')} left when the check ended`] : []),
    ]
    return [
      ...(lines.length > 0 && !isJson ? [''] : []),
      ...wrap(headline(findings, summary), DEFAULT_WIDTH, ''),
      ...(unchecked.length > 0 ? wrap(`Not checked: ${unchecked.join(', ')}.`, DEFAULT_WIDTH, '') : []),
      ...(findings.pages === 0 ? hints(summary, DEFAULT_WIDTH) : []),
    ]
  }
}
