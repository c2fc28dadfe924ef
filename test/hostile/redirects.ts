/** Redirects that lead nowhere, too far, or where a crawler has no business. */

import { type HostileRoute, page, redirect, send } from './route.js'

/** Where `redirect-other-host` leads. */
export const OTHER_HOST = '127.0.66.200'

function to(name: string, does: string, location: string): HostileRoute {
  return { name, path: `/${name}`, does, answer: (_, response) => redirect(response, location) }
}

export const REDIRECTS: readonly HostileRoute[] = [
  {
    name: 'redirect-loop',
    path: '/redirect-loop/*',
    does: 'leads from /redirect-loop/a to /redirect-loop/b and back',
    answer: (_, response, { rest }) => redirect(response, rest === 'a' ? 'b' : 'a'),
  },
  to('redirect-to-itself', 'leads to itself', '/redirect-to-itself'),
  {
    name: 'redirect-chain',
    path: '/redirect-chain/*',
    does: 'leads from /redirect-chain/30 over 30 others to a page at /redirect-chain/0',
    answer: (_, response, { rest }) => {
      const left = Number(rest)
      if (left > 0) redirect(response, String(left - 1))
      else page(response, '<title>The end of the chain</title>')
    },
  },
  {
    name: 'redirect-without-end',
    path: '/redirect-without-end/*',
    does: 'leads to an ever new URL',
    answer: (_, response, { rest }) => redirect(response, String(Number(rest) + 1)),
  },
  {
    name: 'redirect-other-host',
    path: '/redirect-other-host',
    does: `leads to a page at ${OTHER_HOST}, and tells it what headers arrived there`,
    answer: (request, response, { url }) => {
      if (request.host !== OTHER_HOST) redirect(response, url('/redirect-other-host', OTHER_HOST))
      else page(response, `<title>Other host</title><pre>${JSON.stringify(request.headers)}</pre>`)
    },
  },
  to('redirect-private', 'leads to an address of a private network', 'http://10.255.255.1/'),
  to(
    'redirect-metadata',
    "leads to where clouds keep their machines' secrets",
    'http://169.254.169.254/latest/meta-data/',
  ),
  to('redirect-mapped', 'leads to a private address in the dress of IPv6', 'http://[::ffff:10.255.255.1]/'),
  to('redirect-file', 'leads to a file', 'file:///etc/hostname'),
  to('redirect-nonsense', 'leads to what is no URL', 'http://[nonsense'),
  {
    name: 'redirect-nowhere',
    path: '/redirect-nowhere',
    does: 'is a redirect without a Location',
    answer: (_, response) => send(response, 302),
  },
  {
    name: 'meta-refresh-loop',
    path: '/meta-refresh-loop/*',
    does: 'leads from /meta-refresh-loop/a to /meta-refresh-loop/b and back, by meta refresh',
    answer: (_, response, { rest }) =>
      page(response, `<meta http-equiv=refresh content="0; url=${rest === 'a' ? 'b' : 'a'}">`),
  },
]
