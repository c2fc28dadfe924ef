import { describe, expect, it } from 'vitest'
import { KumoError } from '../../../src/errors.js'
import { announcedLength, mediaTypeOf, RawHeaders, requestHeaders } from '../../../src/fetch/http/headers.js'

const raw = (...parts: (string | Uint8Array)[]) =>
  new RawHeaders(parts.map((part) => Buffer.from(part as string)))

describe('RawHeaders', () => {
  it('finds a name in any case and joins lines of one name', () => {
    const headers = raw('Content-Type', ' text/html ', 'VARY', 'a', 'vary', 'b', 'Vary-X', 'c')
    expect(headers.get('content-type')).toBe('text/html')
    expect(headers.get('vary')).toBe('a, b')
    expect(headers.get('content-tape')).toBeUndefined()
    expect([...headers.entries()]).toEqual([
      ['content-type', 'text/html'],
      ['vary', 'a, b'],
      ['vary-x', 'c'],
    ])
  })

  it('reads UTF-8 where it is, Latin-1 where it is not', () => {
    const headers = raw('location', '/caf\u00e9/蜘蛛', 'x-old', Buffer.from('caf\u00e9', 'latin1'))
    expect(headers.get('location')).toBe('/café/蜘蛛')
    expect(headers.get('x-old')).toBe('café')
  })

  it('keeps lines apart where they cannot be joined, byte for byte', () => {
    const bytes = Buffer.from('b=\xe9', 'latin1')
    const headers = raw(
      'Set-Cookie',
      ' a=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT',
      'x',
      'y',
      'set-cookie',
      bytes,
    )
    expect(headers.lines('set-cookie')).toEqual(['a=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT', 'b=\xe9'])
    expect(headers.lines('cookie')).toEqual([])
  })

  it('knows no name that objects inherit', () => {
    expect(raw().get('constructor')).toBeUndefined()
    expect([...raw('__proto__', 'x').entries()]).toEqual([['__proto__', 'x']])
  })
})

it.each([
  [undefined, ''],
  ['', ''],
  ['text/html', 'text/html'],
  ['Text/HTML; charset=utf-8', 'text/html'],
  [' application/xml ;q=1', 'application/xml'],
  ['text/html, text/html', 'text/html'],
  [';charset=x', ''],
])('the media type of %j is %j', (value, expected) => {
  expect(mediaTypeOf(value)).toBe(expected)
})

it.each([
  [undefined, undefined],
  ['0', 0],
  ['12', 12],
  ['12, 12', undefined],
  ['-1', undefined],
  ['1e3', undefined],
  ['', undefined],
])('Content-Length %j announces %j', (value, expected) => {
  expect(announcedLength(value)).toBe(expected)
})

describe('requestHeaders', () => {
  it('sends the user agent, accept and accept-encoding, and what is added', () => {
    const headers = requestHeaders('Kumo/0.1', { 'Accept-Language': 'de', Accept: 'text/html' })
    expect(headers).toEqual([
      'user-agent',
      'Kumo/0.1',
      'accept',
      'text/html',
      'accept-encoding',
      'gzip, deflate, br',
      'accept-language',
      'de',
    ])
  })

  it('lets a later layer replace an earlier one', () => {
    const headers = requestHeaders('Kumo/0.1', { From: 'a@b', 'X-A': '1' }, { from: 'c@d' }, { 'x-a': '2' })
    expect(headers.slice(6)).toEqual(['from', 'c@d', 'x-a', '2'])
  })

  it.each([
    [{ 'X-Evil': 'a\r\nHost: b' }, 'X-Evil'],
    [{ 'X-Nul': 'a\0' }, 'X-Nul'],
    [{ 'X-Wide': '蜘' }, 'X-Wide'],
    [{ 'X-Number': 5 as unknown as string }, 'X-Number'],
    [{ 'Not a name': 'x' }, 'Not a name'],
    [{ '': 'x' }, ''],
    [{ Host: 'example.com' }, 'Host'],
    [{ 'Content-Length': '3' }, 'Content-Length'],
    [{ Connection: 'close' }, 'Connection'],
    [{ 'Proxy-Authorization': 'Basic x' }, 'Proxy-Authorization'],
    [{ 'User-Agent': 'x' }, 'User-Agent'],
    [{ 'Accept-Encoding': 'zstd' }, 'Accept-Encoding'],
  ])('refuses %j by name', (extra, name) => {
    const attempt = () => requestHeaders('Kumo/0.1', extra as unknown as Record<string, string>)
    expect(attempt).toThrow(KumoError)
    expect(attempt).toThrow(expect.objectContaining({ code: 'KUMO_INVALID_OPTION' }))
    expect(attempt).toThrow(name || "got ''")
  })

  it.each(['', '  ', 'Kumo\n', 'Kumo 蜘'])('refuses the user agent %j', (userAgent) => {
    expect(() => requestHeaders(userAgent, {})).toThrow(/^userAgent: got/)
  })
})
