/** What `kumo check` prints. Pure. */

import type { Summary } from '../../index.js'
import { json } from '../crawl/formats.js'
import { count, counted, duration, printable } from '../format.js'
import type { BrokenLink, Findings, RedirectedLink } from './findings.js'

/** Stands for the status if there was no response. */
const NO_STATUS = '---'
/** As wide as a status and its space. */
const INDENT = '     '

/** The report for people: broken links with every page that contains them, then redirects. */
export function reportLines({ broken, redirected }: Findings): string[] {
  const blocks = [...broken.map(brokenLines), ...(redirected.length === 0 ? [] : [redirectLines(redirected)])]
  return blocks.flatMap((lines, i) => (i === 0 ? lines : ['', ...lines]))
}

function brokenLines(link: BrokenLink): string[] {
  const { url, redirects, status, code, message, pages } = link
  const [first, ...more] = [...redirects.map((hop) => hop.status), status ?? NO_STATUS]
  const steps = more.map((step, i) => `${step}  → ${printable(redirects[i]!.to)}`)
  const lines = [`${first}  ${printable(url)}`, ...steps]
  // A status speaks for itself.
  if (code !== 'http-status') lines.push(`${INDENT}${printable(message)}`)
  return [...lines, ...pages.map((page) => `${INDENT}linked from ${printable(page)}`)]
}

function redirectLines(links: readonly RedirectedLink[]): string[] {
  const lines = links.map(({ url, redirects, pages }) => {
    const chain = [url, ...redirects.map(({ to }) => to)].map(printable).join(' → ')
    const where = pages.length === 0 ? '' : ` (on ${counted(pages.length, 'page')})`
    return `${redirects[0]!.status}  ${chain}${where}`
  })
  return [`${counted(links.length, 'link')} redirected:`, ...lines]
}

/** The report for programs: a line for each link, then one with the totals. */
export function reportJson(findings: Findings, { skips, pending, elapsedMs }: Summary): string[] {
  const { broken, redirected, checked, pages } = findings
  const found = { broken: broken.length, redirected: redirected.length, checked, pages }
  const totals = { ...found, skips, pending, elapsedMs: Math.round(elapsedMs) }
  return [
    ...broken.map((link) => line('broken', link)),
    ...redirected.map((link) => line('redirect', link)),
    line('summary', totals),
  ]
}

function line(type: string, rest: object): string {
  return json({ type, ...rest })
}

/** The last line, such as `Checked 120 URLs on 34 pages in 12.3 s: 2 broken, 5 redirected.` */
export function headline({ broken, redirected, checked, pages }: Findings, { elapsedMs }: Summary): string {
  const found = [
    broken.length > 0
      ? `${count(broken.length)} broken`
      : pages > 0
        ? 'nothing is broken'
        : 'no page was read',
    ...(redirected.length === 0 ? [] : [`${count(redirected.length)} redirected`]),
  ]
  return `Checked ${counted(checked, 'URL')} from ${counted(pages, 'page')} in ${duration(elapsedMs)}: ${found.join(', ')}.`
}
