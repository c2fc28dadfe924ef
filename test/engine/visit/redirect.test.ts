/** What is left of a request after a redirect, as a table (RFC 9110, 15.4). */

import { describe, expect, test } from 'vitest'
import { afterRedirect } from '../../../src/engine/visit/redirect.js'
import type { RequestExtras } from '../../../src/types.js'

const HERE = 'https://example.com/form'
const SAME = 'https://example.com/next'
const OTHERS = [
  'https://other.example/next',
  'http://example.com/next',
  'https://example.com:8443/next',
  'https://www.example.com/next',
]
const KEPT = { label: 'list', data: '{"page":1}' }
const OWN = { authorization: 'Bearer t', cookie: 'sid=1', 'x-token': 't' }
const CONTENT = { 'content-type': 'text/plain', 'content-language': 'ja' }
const request = (method: string, more: Partial<RequestExtras> = {}): RequestExtras => ({
  ...KEPT,
  ...(method !== 'GET' && { method }),
  headers: { ...OWN, ...CONTENT },
  ...(method !== 'GET' && method !== 'HEAD' && { body: 'aGk=', binary: true as const }),
  ...more,
})

describe('after a redirect', () => {
  test.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [303, 'PATCH', 'GET'],
    [303, 'DELETE', 'GET'],
    [303, 'HEAD', 'HEAD'],
    [303, 'GET', 'GET'],
    [301, 'HEAD', 'HEAD'],
    [301, 'PUT', 'PUT'],
    [302, 'PATCH', 'PATCH'],
    [302, 'DELETE', 'DELETE'],
    [307, 'POST', 'POST'],
    [308, 'POST', 'POST'],
    [307, 'PATCH', 'PATCH'],
    [308, 'HEAD', 'HEAD'],
  ])('%i, %s becomes %s', (status, before, after) => {
    const left = afterRedirect(request(before), status, HERE, SAME)!
    expect(left).toMatchObject(KEPT)
    expect(left.method ?? 'GET').toBe(after)
    const hasBody = after !== 'GET' && after !== 'HEAD'
    expect([left.body, left.binary]).toEqual(hasBody ? ['aGk=', true] : [undefined, undefined])
    expect(left.headers, 'headers of the body go with it').toEqual(hasBody ? { ...OWN, ...CONTENT } : OWN)
  })

  test.each(OTHERS)('to %s no header follows, except those of a repeated body', (to) => {
    expect(afterRedirect(request('POST'), 307, HERE, to)).toEqual({ ...request('POST'), headers: CONTENT })
    expect(afterRedirect(request('POST'), 303, HERE, to)).toEqual(KEPT)
    expect(afterRedirect(request('GET'), 302, HERE, to)).toEqual(KEPT)
  })

  test('nothing is left of nothing', () => {
    expect(afterRedirect(undefined, 302, HERE, SAME)).toBeUndefined()
    expect(afterRedirect({ method: 'POST', body: 'x' }, 303, HERE, SAME)).toBeUndefined()
  })
})
