import { describe, expect, it } from 'vitest'
import { freshForMs } from '../../src/warc/freshness.js'

const DATE = 'Sun, 06 Nov 1994 08:49:37 GMT'
const AT = Date.UTC(1994, 10, 6, 8, 49, 37)

describe('how long an answer is fresh', () => {
  it.each([
    [{}, 0],
    [{ 'cache-control': 'max-age=60' }, 60_000],
    [{ 'cache-control': 'public, Max-Age="60"' }, 60_000],
    [{ 'cache-control': 'max-age=60', age: '45' }, 15_000],
    [{ 'cache-control': 'max-age=60', age: '100' }, 0],
    [{ 'cache-control': 'max-age=soon' }, 0],
    [{ 'cache-control': 'max-age=60, no-cache' }, 0],
    [{ 'cache-control': 'no-store', expires: 'Sun, 06 Nov 1994 09:49:37 GMT' }, 0],
    [{ 'cache-control': 'max-age=60', vary: '*' }, 0],
    [{ 'cache-control': 'max-age=60', vary: 'accept' }, 60_000],
    [{ 'cache-control': 'max-age=60', vary: 'Accept-Encoding, Origin' }, 60_000],
    [{ 'cache-control': 'max-age=60', vary: 'Accept-Encoding, Accept-Language' }, 0],
    [{ 'cache-control': 'max-age=60', vary: 'User-Agent' }, 0],
    [{ 'cache-control': 'max-age=60, must-revalidate' }, 60_000],
    [{ 'cache-control': 'max-age=60', date: 'Sun, 06 Nov 1994 08:49:07 GMT' }, 30_000],
    [{ 'cache-control': 'max-age=60', date: 'Sun, 06 Nov 1994 08:49:07 GMT', age: '50' }, 10_000],
    [{ 'cache-control': 'max-age=60', date: 'Sun, 06 Nov 1994 09:49:37 GMT' }, 60_000],
    [{ date: DATE, expires: 'Sun, 06 Nov 1994 08:50:37 GMT' }, 60_000],
    [{ date: DATE, expires: '0' }, 0],
    [{ date: DATE, expires: 'Sun, 06 Nov 1994 08:50:37 GMT', 'cache-control': 'max-age=5' }, 5000],
    [{ date: DATE, 'last-modified': 'Sun, 06 Nov 1994 07:49:37 GMT' }, 360_000],
    [{ date: DATE, 'last-modified': 'Sun, 06 Nov 1992 07:49:37 GMT' }, 86_400_000],
    [{ 'last-modified': 'Sun, 06 Nov 1994 08:48:37 GMT' }, 6000],
  ] as [Record<string, string>, number][])('%j: %i ms', (headers, expected) => {
    expect(freshForMs(200, (name) => headers[name], AT)).toBe(expected)
  })

  it('only some statuses may be fresh by guess', () => {
    const header = (name: string) => (name === 'last-modified' ? 'Sun, 06 Nov 1994 07:49:37 GMT' : undefined)
    expect([200, 404, 302, 403].map((status) => freshForMs(status, header, AT) > 0)).toEqual([
      true,
      true,
      false,
      false,
    ])
  })
})
