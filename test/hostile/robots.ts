/**
 * Hosts that differ by their robots.txt. Every other path of theirs is an ordinary page with the same links, so that a
 * test sees in the log what the rules let through.
 */

import { type Answering, type HostileRoute, linksTo, page, redirect, send } from './route.js'

const PLAIN = { 'content-type': 'text/plain; charset=utf-8' }
/** How much of a robots.txt a crawler must read. */
const READ_BYTES = 500 * 1024

/** Where `robots-redirect` finds its rules. */
const RULES_HOST = '127.0.66.29'

/** Comments up to a size, so that what follows stands beyond it. */
function padded(text: string, size: number): string {
  const line = `# ${'.'.repeat(97)}\n`
  return text + line.repeat(Math.ceil((size - text.length) / line.length))
}

/** 500 KiB of rules that a matcher by backtracking does not survive, asked about a path of `a`s. */
function wildcards(): string {
  const rule = `Disallow: /${'*a'.repeat(50)}*b$\n`
  return `User-agent: *\n${rule.repeat(READ_BYTES / rule.length)}`
}

function text(
  name: string,
  host: string,
  does: string,
  body: (url: Answering['url']) => string,
): HostileRoute {
  return {
    name,
    path: '/robots.txt',
    host,
    does,
    answer: (_, response, { url }) => send(response, 200, body(url), PLAIN),
  }
}

const RULES: readonly HostileRoute[] = [
  text(
    'robots-huge',
    '127.0.66.20',
    'has rules for /before within and for /after beyond the first 500 KiB',
    () => padded('User-agent: *\nDisallow: /before\n', READ_BYTES + 1000).concat('Disallow: /after\n'),
  ),
  text('robots-wildcards', '127.0.66.21', 'has 500 KiB of rules full of wildcards', wildcards),
  text('robots-crawl-delay', '127.0.66.22', 'asks for a delay of one second, and names a sitemap', (url) =>
    ['User-agent: *', 'Crawl-delay: 1', `Sitemap: ${url('/huge-sitemap.xml')}`, ''].join('\n'),
  ),
  text(
    'robots-page',
    '127.0.66.23',
    'is a web page',
    () => '<!DOCTYPE html><title>Welcome</title><p>Disallow: /',
  ),
  {
    name: 'robots-5xx',
    path: '/robots.txt',
    host: '127.0.66.24',
    does: 'answers 503',
    answer: (_, response) => send(response, 503),
  },
  {
    name: 'robots-4xx',
    path: '/robots.txt',
    host: '127.0.66.25',
    does: 'answers 403, which allows everything',
    answer: (_, response) => send(response, 403),
  },
  {
    name: 'robots-silent',
    path: '/robots.txt',
    host: '127.0.66.26',
    does: 'never answers',
    answer: () => {},
  },
  {
    name: 'robots-redirect',
    path: '/robots.txt',
    host: '127.0.66.27',
    does: `leads to the rules of another host, ${RULES_HOST}`,
    answer: (_, response, { url }) => redirect(response, url('/robots.txt', RULES_HOST), 301),
  },
  {
    name: 'robots-redirect-loop',
    path: '/robots.txt',
    host: '127.0.66.28',
    does: 'leads to itself',
    answer: (_, response) => redirect(response, '/robots.txt', 301),
  },
  text('robots-before', RULES_HOST, 'forbids /before', () => 'User-agent: *\nDisallow: /before\n'),
]

const PAGES: readonly HostileRoute[] = RULES.map(({ name, host }) => ({
  name: `${name}-pages`,
  path: '/*',
  host: host!,
  does: `are the pages of ${name}: each links to /before, /after and a path of 2,000 letters`,
  answer: (_, response) => page(response, linksTo('/before', '/after', `/${'a'.repeat(2000)}`)),
}))

export const ROBOTS: readonly HostileRoute[] = [...RULES, ...PAGES]
