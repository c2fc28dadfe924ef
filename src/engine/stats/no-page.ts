/** Why no page came: what the program would not hear of otherwise, because it listens neither to failures nor to skips. */

import { pluralize, sentence } from '../../errors.js'
import type { FailureCode, SkipReason } from '../../types.js'

/** A URL that did not become a page. Plain data. */
export interface NoPageReason {
  readonly url: string
  readonly kind: 'failure' | 'skip'
  readonly code: FailureCode | SkipReason
  /** What happened, for a failure. */
  readonly message?: string | undefined
}

export interface NoPageReasons {
  readonly reasons: readonly NoPageReason[]
  /** Those beyond the first few. */
  readonly more: number
}

/** Enough to see what they have in common. */
const MOST_REASONS = 5

/** Collects the reasons of one shard, before its first page. */
export class UnheardReasons implements NoPageReasons {
  readonly reasons: NoPageReason[] = []
  more = 0

  note(reason: NoPageReason): void {
    if (this.reasons.length < MOST_REASONS) this.reasons.push(reason)
    else this.more++
  }

  /** The program is told otherwise. */
  clear(): void {
    this.reasons.length = 0
    this.more = 0
  }
}

/** The warning at the end of a run without pages. Undefined: there is nothing to say. */
export function noPageWarning(shards: readonly NoPageReasons[]): string | undefined {
  const all = shards.flatMap(({ reasons }) => reasons)
  if (all.length === 0) return undefined
  const shown = all.slice(0, MOST_REASONS)
  const more = all.length - shown.length + shards.reduce((sum, shard) => sum + shard.more, 0)
  const lines = shown.map((reason) => `\n- ${describe(reason)}`)
  if (more > 0) lines.push(`\n- and ${pluralize(more, 'more URL')}`)
  return `The crawl ended without a page:${lines.join('')}\nListen to 'failure' and 'skip' to handle this.`
}

function describe({ url, kind, code, message }: NoPageReason): string {
  if (kind === 'skip') {
    const [why, advice] = SKIPS[code as SkipReason]
    return `${url} was skipped (${code}): ${why}. ${advice}`
  }
  const advice = ADVICE[code as FailureCode]
  return `${url} failed (${code}): ${sentence(message ?? '')}${advice === undefined ? '' : ` ${advice}`}`
}

const TRAP = 'Adjust or lift this bound with .traps().'

/** What happened, and what to do. */
const SKIPS: Readonly<Record<SkipReason, readonly [why: string, advice: string]>> = {
  scope: ['it is out of scope', 'Add its host as a seed, or widen .scope().'],
  depth: ['it is deeper than .depth()', 'Raise .depth().'],
  robots: [
    "the site's robots.txt disallows it",
    'Choose other seeds, or, for hosts that you own, turn robots.txt off with .robots(false).',
  ],
  nofollow: [
    'the page asks crawlers not to follow its links',
    'For pages that you own, use .robots({ nofollow: false }).',
  ],
  blocked: ['a rule of .block() matches it', 'Change .block().'],
  language: ['the page is not in a language of the scope', 'Change the pageLanguage() of .scope().'],
  'media-type': [
    'no extractor handles its media type, so its body was not read',
    'Add an extractor with these mediaTypes with .extract().',
  ],
  'host-limit': ['its host has reached limit({ pagesPerHost })', 'Raise the limit.'],
  'site-limit': ['its site has reached limit({ pagesPerSite })', 'Raise the limit.'],
  'url-too-long': ['the URL is too long', TRAP],
  'path-too-deep': ['the path has too many directories', TRAP],
  'path-repeats': ['the path repeats itself', TRAP],
  'query-variety': ['its path has too many different queries', TRAP],
  'too-many-links': ['the page has too many links', TRAP],
  'same-content': ['its host shows the same content under many URLs', TRAP],
  'not-http': ['it is not an http(s) URL', 'Only http(s) URLs are crawled.'],
}

const ADVICE: Readonly<Partial<Record<FailureCode, string>>> = {
  timeout: 'Check the server, or allow more time with .timeout().',
  'dns-failed': 'Check the host name and the network.',
  'connect-failed': 'Check host, port and network.',
  'address-refused': 'Allow the host with .allowPrivate() if you trust it.',
  'proxy-failed': 'Check .proxy().',
  'tls-failed': 'Check the certificate, or trust its authority with .tls({ ca }).',
  'body-too-large': 'Raise .maxBodyBytes(), or use its option truncate.',
  'http-status': 'Check the URL, and whether the site wants credentials or another .userAgent().',
  'host-down': 'Check the host, and try again later with .retryFailed().',
  'too-many-redirects': 'Raise .redirects(), or use the target as a seed.',
  'redirect-loop': 'The site may need cookies: .cookies().',
  'invalid-seed': 'Give absolute http(s) URLs as seeds.',
}
