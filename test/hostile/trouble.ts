/** Servers in trouble, and those that say how long it will last. */

import { type HostileRoute, linksTo, page, send } from './route.js'

const RETRY_SECONDS = 1
const YEAR_SECONDS = 365 * 24 * 3600
/** Requests that fail before the host is well again. */
export const FAILURES = 3
/** The host that recovers. */
const RECOVERING_HOST = '127.0.66.10'

export const TROUBLE: readonly HostileRoute[] = [
  {
    name: 'unavailable-seconds',
    path: '/unavailable-seconds',
    does: 'answers 503 and asks for a second of patience, then with a page',
    answer: (_, response, { before }) => {
      if (before > 0) page(response, '<title>Back</title>')
      else send(response, 503, '', { 'retry-after': String(RETRY_SECONDS) })
    },
  },
  {
    name: 'unavailable-date',
    path: '/unavailable-date',
    does: 'answers 503 and names the instant to come back at, some two seconds later, then with a page',
    answer: (request, response, { before }) => {
      if (before > 0) return page(response, '<title>Back</title>')
      const until = new Date(request.at + 2000 * RETRY_SECONDS)
      send(response, 503, '', { 'retry-after': until.toUTCString() })
    },
  },
  {
    name: 'unavailable-for-a-year',
    path: '/unavailable-for-a-year',
    does: 'answers 503 and asks for a year of patience',
    answer: (_, response) => send(response, 503, '', { 'retry-after': String(YEAR_SECONDS) }),
  },
  {
    name: 'too-many-requests',
    path: '/too-many-requests',
    does: 'answers 429 and asks for a second of patience, then with a page',
    answer: (_, response, { before }) => {
      if (before > 0) page(response, '<title>Back</title>')
      else send(response, 429, '', { 'retry-after': String(RETRY_SECONDS) })
    },
  },
  {
    name: 'server-error',
    path: '/server-error',
    does: 'answers 500, always',
    answer: (_, response) => send(response, 500),
  },
  {
    name: 'recovers',
    path: '/*',
    host: RECOVERING_HOST,
    does: `is a host that answers its first ${FAILURES} requests with 503 and then is well`,
    answer: (_, response, { before }) => {
      if (before < FAILURES) send(response, 503)
      else page(response, `<title>Well again</title>${linksTo('/a', '/b', '/c')}`)
    },
  },
]
