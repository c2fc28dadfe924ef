/** Pages that ask something of their visitors: who they are, and what they may do with the page. */

import { type HostileRoute, linksTo, page, redirect, send } from './route.js'

/** What `basic-auth` lets in. */
export const CREDENTIALS = { username: 'kumo', password: 'open sesame' }
const EXPECTED = `Basic ${Buffer.from(`${CREDENTIALS.username}:${CREDENTIALS.password}`).toString('base64')}`
const WELCOME = `<title>Welcome</title>${linksTo('/page/inside')}`

export const ACCESS: readonly HostileRoute[] = [
  {
    name: 'cookies-required',
    path: '/cookies-required',
    does: 'leads to itself until its cookie comes back',
    answer: (request, response) => {
      if (request.headers.cookie?.includes('visitor=1')) return page(response, WELCOME)
      response.setHeader('set-cookie', 'visitor=1; Path=/; HttpOnly')
      redirect(response, '/cookies-required')
    },
  },
  {
    name: 'basic-auth',
    path: '/basic-auth',
    does: `answers 401 to all but ${CREDENTIALS.username}, whose password is "${CREDENTIALS.password}"`,
    answer: (request, response) => {
      if (request.headers.authorization === EXPECTED) page(response, WELCOME)
      else send(response, 401, '', { 'www-authenticate': 'Basic realm="hostile"' })
    },
  },
  {
    name: 'canonical',
    path: '/canonical',
    does: 'is one page under any query, and names its canonical URL',
    answer: (_, response, { url }) =>
      page(
        response,
        `<head><link rel=canonical href="${url('/canonical')}"></head>${linksTo('?a=1', '?a=2')}`,
      ),
  },
  {
    name: 'canonical-header',
    path: '/canonical-header',
    does: 'names its canonical URL in a Link header',
    answer: (_, response, { url }) =>
      page(response, linksTo('?a=1'), { link: `<${url('/canonical-header')}>; rel="canonical"` }),
  },
  {
    name: 'x-robots-tag',
    path: '/x-robots-tag',
    does: 'asks by X-Robots-Tag not to be indexed, nor its links to be followed',
    answer: (_, response) =>
      page(response, linksTo('/page/forbidden'), { 'x-robots-tag': 'noindex, nofollow' }),
  },
  {
    name: 'x-robots-tag-agent',
    path: '/x-robots-tag-agent',
    does: 'asks the same of Kumo alone',
    answer: (_, response) =>
      page(response, linksTo('/page/forbidden'), {
        'x-robots-tag': ['otherbot: noarchive', 'kumo: noindex, nofollow'],
      }),
  },
  {
    name: 'robots-meta',
    path: '/robots-meta',
    does: 'asks the same by a robots meta element',
    answer: (_, response) =>
      page(response, `<meta name=robots content="noindex, nofollow">${linksTo('/page/forbidden')}`),
  },
  {
    name: 'rel-nofollow',
    path: '/rel-nofollow',
    does: 'has a link that is to be followed and one that is not',
    answer: (_, response) =>
      page(response, `${linksTo('/page/allowed')}<a href="/page/forbidden" rel="external nofollow">no</a>`),
  },
  {
    name: 'page',
    path: '/page/*',
    does: 'is an ordinary page without links, where others lead',
    answer: (_, response, { rest }) => page(response, `<title>Page ${encodeURIComponent(rest)}</title>`),
  },
]
