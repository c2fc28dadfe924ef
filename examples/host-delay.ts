/**
 * Options for some hosts: a slow server gets a longer delay, your own more connections.
 *
 *     npx tsx examples/host-delay.ts https://example.com/ https://example.org/
 */

import { Crawler } from 'kumo'

const [, , fast = 'https://example.com/', slow = 'https://example.org/'] = process.argv
const last = new Map<string, number>()

await new Crawler()
  .seeds(fast, slow)
  .limit({ pagesPerHost: 3 })
  .delay('100ms')
  .host(new URL(slow).hostname, { delay: '500ms' })
  .host('*.example.com', { connections: 2, headers: { 'x-key': 'secret' } })
  .on('page', ({ host, url, fetchedAt }) => {
    const pause = Math.round(fetchedAt - (last.get(host) ?? fetchedAt))
    last.set(host, fetchedAt)
    console.log(`${url} after ${pause} ms`)
  })
  .run()
