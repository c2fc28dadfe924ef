/** A site answers with what it was given, at every loopback address, and remembers what it was asked. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { type LoopbackSite, type Route, startSite } from './site.js'

let site: LoopbackSite | undefined

afterEach(async () => {
  await site?.close()
  site = undefined
})

const routes: Record<string, Route> = {
  '/': '<p>home',
  '/feed.xml': '<rss/>',
  '/gone': { status: 410, body: 'gone' },
  '/moved': { status: 301, headers: { location: '/' } },
  '/bytes': { headers: { 'content-type': 'image/png' }, body: new Uint8Array([1, 2, 3]) },
  '/q?a=1': 'one',
  '/q': 'any',
  '/own': (request, response) => response.writeHead(202).end(request.headers['user-agent']),
}

test.each([
  ['/', 200, 'text/html; charset=utf-8', '<p>home'],
  ['/feed.xml', 200, 'application/xml; charset=utf-8', '<rss/>'],
  ['/gone', 410, 'text/html; charset=utf-8', 'gone'],
  ['/moved', 301, 'text/html; charset=utf-8', ''],
  ['/bytes', 200, 'image/png', '\x01\x02\x03'],
  ['/q?a=1', 200, 'text/html; charset=utf-8', 'one'],
  ['/q?a=2', 200, 'text/html; charset=utf-8', 'any'],
  ['/own', 202, null, 'tester'],
  ['/constructor', 404, 'text/html; charset=utf-8', ''],
])('%s answers %i', async (path, status, type, body) => {
  site = await startSite(routes)
  const response = await fetch(site.url(path), { redirect: 'manual', headers: { 'user-agent': 'tester' } })
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    status,
    type,
    body,
  ])
})

test('requests are remembered, with the host that was asked', async () => {
  site = await startSite(routes, { host: '127.0.0.7' })
  const before = Date.now()
  await fetch(site.url('/q?a=1'))
  await fetch(site.url('/', '127.9.9.9'), { headers: { 'x-test': 'yes' } })
  expect(site.requests).toMatchObject([
    { method: 'GET', path: '/q?a=1', host: '127.0.0.7' },
    { method: 'GET', path: '/', host: '127.9.9.9', headers: { 'x-test': 'yes' } },
  ])
  expect(site.requests[0]!.at).toBeGreaterThan(before - 100)
  expect(site.requests[1]!.at).toBeGreaterThan(site.requests[0]!.at)
})

test('close cuts connections, busy or idle', async () => {
  site = await startSite({ '/never': () => {} })
  const idle = connect(site.port, '127.0.0.1')
  idle.on('error', () => {})
  await once(idle, 'connect')
  const cut = new Promise((resolve) => idle.on('close', resolve))
  const unanswered = fetch(site.url('/never')).catch((error: Error) => error)
  while (site.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  await site.close()
  await cut
  expect(await unanswered).toBeInstanceOf(Error)
  await expect(fetch(site.url('/'))).rejects.toThrow()
})
