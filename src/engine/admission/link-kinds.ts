import type { Link } from '../../types.js'

/** What a `link` element may lead to that is a page. Style sheets, icons and fonts are parts of one. */
const PAGES: ReadonlySet<string> = new Set([
  'alternate',
  'next',
  'prev',
  'previous',
  'first',
  'last',
  'start',
])

/** Whether there may be a page behind a link. The canonical URL is followed by expectation only. */
export function leadsToPage(link: Link, followCanonical: boolean): boolean {
  if (link.tag !== 'link') return true
  if (link.rel === undefined) return false
  return words(link.rel).some((word) => PAGES.has(word) || (followCanonical && word === 'canonical'))
}

/** Whether a `rel` attribute asks crawlers not to follow its link. */
export function isNofollow(rel: string): boolean {
  return rel.length >= 'nofollow'.length && words(rel).includes('nofollow')
}

function words(rel: string): string[] {
  return rel.toLowerCase().split(/[\t\n\f\r ]+/)
}
