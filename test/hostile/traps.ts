/** Sites without end, and pages made to hurt whoever reads them. */

import { ATTRIBUTE_PAGES, ENTITY_EXPANSION, type HostilePage, NESTED_PAGES } from './pages.js'
import { type HostileRoute, linksTo, page } from './route.js'

const MILLION = 1_000_000
/** `<a href=999999>` and its like: so many still fit into the default body limit. */
const MANY = 400_000
const NESTED = 100_000
const COPIES = 1000

let sessions = 0

function monthAfter(month: string, months: number): string {
  const [year = 2024, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 + months)).toISOString().slice(0, 7)
}

function numberedLinks(count: number): string {
  return Array.from({ length: count }, (_, n) => `<a href=${n}>`).join('')
}

function hurtful(name: string, does: string, body: () => string, type = 'text/html'): HostileRoute {
  let made: string | undefined
  return {
    name,
    path: `/${name}`,
    does,
    answer: (_, response) => {
      made ??= body()
      page(response, made, { 'content-type': type })
    },
  }
}

function named(pages: readonly HostilePage[], name: string): HostilePage {
  return pages.find((each) => each.name === name)!
}

export const TRAPS: readonly HostileRoute[] = [
  {
    name: 'calendar',
    path: '/calendar/*',
    does: 'is a calendar from /calendar/2024-01: every month leads to the next and the one before',
    answer: (_, response, { rest }) => {
      const month = /^\d{4}-\d\d$/.test(rest) ? rest : '2024-01'
      const links = linksTo(`/calendar/${monthAfter(month, 1)}`, `/calendar/${monthAfter(month, -1)}`)
      page(response, `<title>${month}</title><p>Nothing happens in ${month}.</p>${links}`)
    },
  },
  {
    name: 'session-ids',
    path: '/session-ids/*',
    does: 'is a shop of three pages that gives every link a new session id',
    answer: (_, response, { rest }) => {
      const links = ['', 'tea', 'cups'].map((name) => `/session-ids/${name}?sid=${(++sessions).toString(36)}`)
      page(response, `<title>Shop ${rest}</title>${linksTo(...links)}`)
    },
  },
  {
    name: 'mirror',
    path: '/mirror/*',
    does: 'answers every path below it with the same relative links, so that paths grow without end',
    answer: (_, response) => page(response, `<title>Mirror</title>${linksTo('left/', 'right/')}`),
  },
  {
    name: 'same-content',
    path: '/same-content/*',
    does: 'is one and the same page under a thousand URLs',
    answer: (_, response) => {
      const links = Array.from({ length: COPIES }, (_, n) => `/same-content/${n}`)
      page(response, `<title>The same again</title>${linksTo(...links)}`)
    },
  },
  hurtful('million-links', 'is a page of a million links, beyond the default body limit', () =>
    numberedLinks(MILLION),
  ),
  hurtful('many-links', 'is a page of 400,000 links, within the default body limit', () =>
    numberedLinks(MANY),
  ),
  hurtful('nested-elements', 'is a page of 100,000 elements within each other', () =>
    named(NESTED_PAGES, 'nested div').make(NESTED * '<div></div>'.length),
  ),
  hurtful('megabyte-attribute', 'is a page with an attribute of a megabyte', () =>
    named(ATTRIBUTE_PAGES, 'one link of all its size').make(1024 * 1024),
  ),
  hurtful('many-attributes', 'is a page with a tag of about 100,000 attributes', () =>
    named(ATTRIBUTE_PAGES, 'attributes, all different').make(900_000),
  ),
  hurtful(
    'entity-expansion',
    'is XHTML with entities that would grow to gigabytes',
    () => ENTITY_EXPANSION,
    'application/xhtml+xml',
  ),
]
