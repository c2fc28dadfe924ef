/** What becomes of every outcome, as a table. */

import { describe, expect, test } from 'vitest'
import { judge, type VerdictRules } from '../../../src/engine/visit/verdict.js'
import type { FetchedResponse, Outcome } from '../../../src/fetch/contract.js'
import type { CrawlRequest, FailureCode } from '../../../src/types.js'
import { knownAs } from '../../../src/url/known-as.js'

const rules: VerdictRules = { retries: 2, maxRedirects: 10, followsLoops: false }

function request(change: Partial<CrawlRequest> = {}): CrawlRequest {
  const url = 'https://example.com/dir/page'
  return {
    url,
    host: 'example.com',
    depth: 0,
    priority: 0,
    attempt: 0,
    redirects: 0,
    parent: undefined,
    ...change,
  }
}

function answered(status: number, location?: string, skippedBody = false): FetchedResponse {
  const headers = new Map(location === undefined ? [] : [['location', location]])
  return { ok: true, status, headers, body: new Uint8Array(), wireBytes: 0, skippedBody }
}

function broken(code: FailureCode): Outcome {
  return { ok: false, code, message: `it was ${code}` }
}

describe('an answer', () => {
  test.each([200, 201, 203, 204, 206, 299])('%i is a page', (status) => {
    expect(judge(request(), answered(status), rules)).toEqual({ kind: 'page' })
  })

  test('whose body nobody wants is a skip', () => {
    expect(judge(request(), answered(200, undefined, true), rules)).toEqual({
      kind: 'skip',
      reason: 'media-type',
    })
  })

  test.each([
    ['/root', 'https://example.com/root'],
    ['next', 'https://example.com/dir/next'],
    ['//other.example/x', 'https://other.example/x'],
    ['http://example.com:80/a#b', 'http://example.com/a'],
    ['?q=1', 'https://example.com/dir/page?q=1'],
  ])('301 to %j leads to %s', (location, to) => {
    expect(judge(request(), answered(301, location), rules)).toEqual({ kind: 'redirect', to })
  })

  test.each([301, 302, 303, 307, 308])('%i is a redirect', (status) => {
    expect(judge(request(), answered(status, '/x'), rules).kind).toBe('redirect')
  })

  test.each<[number, string | undefined, FailureCode]>([
    [301, undefined, 'bad-redirect'],
    [302, 'mailto:a@b.example', 'bad-redirect'],
    [302, 'https://[', 'bad-redirect'],
    [300, '/x', 'http-status'],
    [304, '/x', 'http-status'],
    [305, '/x', 'http-status'],
    [100, undefined, 'http-status'],
    [404, undefined, 'http-status'],
    [410, undefined, 'http-status'],
    [501, undefined, 'http-status'],
    [999, undefined, 'http-status'],
  ])('%i with Location %j is given up: %s', (status, location, code) => {
    expect(judge(request(), answered(status, location), rules)).toMatchObject({
      kind: 'failure',
      code,
      status,
      transient: false,
      final: true,
    })
  })

  test.each([
    [9, 'redirect'],
    [10, 'failure'],
    [11, 'failure'],
  ])('after %i redirects in a row the next is a %s', (redirects, kind) => {
    expect(judge(request({ redirects }), answered(302, '/x'), rules).kind).toBe(kind)
  })
})

describe('patience', () => {
  test.each<[Outcome, boolean]>([
    [broken('timeout'), true],
    [broken('dns-failed'), true],
    [broken('connect-failed'), true],
    [broken('connection-lost'), true],
    [broken('tls-failed'), false],
    [broken('bad-response'), false],
    [broken('headers-too-large'), false],
    [broken('body-too-large'), false],
    [broken('decode-failed'), false],
    [broken('fetcher-failed'), false],
    [broken('aborted'), false],
    [answered(408), true],
    [answered(425), true],
    [answered(429), true],
    [answered(500), true],
    [answered(502), true],
    [answered(503), true],
    [answered(504), true],
    [answered(507), true],
    [answered(521), true],
    [answered(599), true],
    [answered(600), false],
    [answered(403), false],
    [answered(404), false],
    [answered(501), false],
    [answered(505), false],
  ])('%j is tried again: %s', (outcome, again) => {
    const verdict = judge(request(), outcome, rules)
    if (verdict.kind !== 'failure') throw new Error(`not a failure but a ${verdict.kind}`)
    expect([verdict.transient, verdict.final]).toEqual([again, !again])
    if (!outcome.ok) expect(verdict).toMatchObject({ code: outcome.code, message: outcome.message })
    else expect(verdict).toMatchObject({ code: 'http-status', status: outcome.status })
  })

  test.each([
    [0, false],
    [1, false],
    [2, true],
    [3, true],
  ])('attempt %i is the last: %s', (attempt, final) => {
    expect(judge(request({ attempt }), broken('timeout'), rules)).toMatchObject({ transient: true, final })
  })
})

describe('redirects in a circle', () => {
  const via = ['https://example.com/first', 'https://example.com/second']

  test.each(['', '/dir/page', '/first', '/second#x'])('to %j are given up', (location) => {
    const verdict = judge(request({ via, redirects: 2 }), answered(302, location), rules)
    expect(verdict).toMatchObject({ kind: 'failure', code: 'redirect-loop', final: true })
    expect((verdict as { message: string }).message).toContain('/first → https://example.com/second → ')
  })

  test('are followed where the second answer may differ', () => {
    const verdict = judge(request({ via }), answered(302, '/first'), { ...rules, followsLoops: true })
    expect(verdict).toEqual({ kind: 'redirect', to: 'https://example.com/first' })
  })

  describe('are known by method and body', () => {
    const page = 'https://example.com/dir/page'
    const post = request({ extras: { method: 'POST', body: 'q=1', label: 'login' } })
    const posted = knownAs(post)

    test('a POST that redirects to its own URL as a GET is not one', () => {
      expect(judge(post, answered(303, page), rules)).toEqual({
        kind: 'redirect',
        to: page,
        extras: { label: 'login' },
      })
    })

    test('a GET that comes back to the URL of a POST is not one, to that of a GET it is', () => {
      const home = request({ url: 'https://example.com/home', via: [posted], redirects: 1 })
      expect(judge(home, answered(302, page), rules).kind).toBe('redirect')
      const again = request({ via: [posted, home.url], redirects: 2 })
      expect(judge(again, answered(302, '/home'), rules)).toMatchObject({
        code: 'redirect-loop',
        message: expect.stringContaining(`${page} → ${home.url} → ${page} → ${home.url}`),
      })
    })

    test('a POST that is repeated at its own URL is one', () => {
      expect(judge(post, answered(307, page), rules)).toMatchObject({ code: 'redirect-loop' })
    })
  })
})
