/** What is tried again, as a table. */

import { describe, expect, test } from 'vitest'
import { decideRetry, type RetryRules } from '../../../src/engine/visit/retry.js'
import type { CrawlRequest, FailureCode } from '../../../src/types.js'

const rules: RetryRules = { retries: 2 }

function request(method?: string, change: Partial<CrawlRequest> = {}): CrawlRequest {
  return {
    url: 'https://example.com/',
    host: 'example.com',
    depth: 0,
    priority: 0,
    attempt: 0,
    redirects: 0,
    parent: undefined,
    ...(method && { extras: { method, label: 'list', data: '{"a":1}' } }),
    ...change,
  }
}

function isRetried(
  method: string | undefined,
  problem: FailureCode | number,
  more: Partial<RetryRules> = {},
): boolean {
  const [code, status] =
    typeof problem === 'number' ? (['http-status', problem] as const) : [problem, undefined]
  return !decideRetry(request(method), code, 'it failed', status, { ...rules, ...more }).final
}

describe('a request that may do harm twice', () => {
  test.each(['POST', 'PATCH', 'ODD'])(
    '%s is retried only if the server cannot have received it',
    (method) => {
      const retried = (['dns-failed', 'connect-failed', 'proxy-failed'] as const).map((code) =>
        isRetried(method, code),
      )
      expect(retried).toEqual([true, true, true])
      const received = (['timeout', 'connection-lost', 503, 429] as const).map((each) =>
        isRetried(method, each),
      )
      expect(received).toEqual([false, false, false, false])
      expect(decideRetry(request(method), 'http-status', '', 503, rules).transient, 'the host rests').toBe(
        true,
      )
    },
  )

  test.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'QUERY', undefined])('%s is not one', (method) => {
    expect((['timeout', 'connection-lost', 503] as const).map((each) => isRetried(method, each))).toEqual([
      true,
      true,
      true,
    ])
  })

  test('is not allowed by a list of statuses, but by the function', () => {
    expect(isRetried('POST', 503, { retryStatuses: new Set([503]) })).toBe(false)
    expect(isRetried('POST', 503, { retryWhen: () => true })).toBe(true)
    expect(isRetried('POST', 'timeout', { retryWhen: () => true })).toBe(true)
  })
})

describe('statuses', () => {
  const retryStatuses = new Set([404, 429])

  test.each<[FailureCode | number, boolean, boolean]>([
    [404, true, false],
    [429, true, true],
    [503, false, true],
    [403, false, false],
    ['timeout', true, true],
  ])('a list decides about %s: retried %s, the host rests %s', (problem, retried, transient) => {
    expect(isRetried(undefined, problem, { retryStatuses })).toBe(retried)
    const status = typeof problem === 'number' ? problem : undefined
    const code = typeof problem === 'number' ? 'http-status' : problem
    const decision = decideRetry(request(), code, '', status, { ...rules, retryStatuses })
    expect(decision.transient).toBe(transient)
  })

  test('and numbers of a host come first', () => {
    const hostRetries = (host: string) =>
      host === 'example.com' ? { times: 5, statuses: new Set([404]) } : undefined
    const own = { ...rules, retryStatuses, hostRetries }
    expect(decideRetry(request(undefined, { attempt: 4 }), 'http-status', '', 404, own).final).toBe(false)
    expect(decideRetry(request(undefined, { attempt: 5 }), 'http-status', '', 404, own).final).toBe(true)
    expect(decideRetry(request(), 'http-status', '', 429, own).final).toBe(true)
    const other = request(undefined, { host: 'other.example', attempt: 2 })
    expect(decideRetry(other, 'http-status', '', 429, own).final).toBe(true)
  })
})

describe('the function', () => {
  test('sees the failure and the request, and decides', () => {
    const seen: unknown[] = []
    const retryWhen: RetryRules['retryWhen'] = (failure, { data, ...asked }) => {
      seen.push(failure, { ...asked, data })
      return failure.status === 403 ? true : failure.status === 503 ? false : undefined
    }
    expect([403, 503, 502, 404].map((status) => isRetried('GET', status, { retryWhen }))).toEqual([
      true,
      false,
      true,
      false,
    ])
    expect(seen.slice(0, 2)).toEqual([
      { url: 'https://example.com/', code: 'http-status', message: 'it failed', status: 403, attempt: 0 },
      { method: 'GET', label: 'list', data: { a: 1 }, priority: 0 },
    ])
  })

  test('is not asked where no attempt is left, nor about sitemaps', () => {
    const retryWhen = () => {
      throw new Error('asked')
    }
    const last = decideRetry(request('POST', { attempt: 2 }), 'timeout', 'late', undefined, {
      ...rules,
      retryWhen,
    })
    expect(last).toEqual({ transient: true, final: true, message: 'late' })
    const purpose = { kind: 'sitemap', nested: 0, of: 'example.com' } as const
    const sitemap = decideRetry(request(undefined, { purpose }), 'timeout', 'late', undefined, {
      ...rules,
      retryWhen,
    })
    expect(sitemap.final).toBe(false)
  })

  test.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('oh no')
      },
      'oh no',
    ],
    ['returns a promise', async () => true, 'it returned object'],
    ['returns text', () => 'yes', 'it returned string'],
  ])('gives the URL up if it %s, and the message says so', (_, retryWhen, why) => {
    const given = { ...rules, retryWhen: retryWhen as RetryRules['retryWhen'] }
    const decision = decideRetry(request(), 'timeout', 'late', undefined, given)
    expect(decision).toMatchObject({ transient: true, final: true })
    expect(decision.message).toMatch(
      /^late; it is not retried, because the function of retries\(\{ when \}\)/,
    )
    expect(decision.message).toContain(why)
  })
})
