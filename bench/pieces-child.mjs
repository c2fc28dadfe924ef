/**
 * Either side of a sitemap that is sent in pieces of one byte: the server, or the crawl that reads it and says what it took.
 * Plain JavaScript and no loader: `kumo` is the built package as an application gets it.
 */

import { once } from 'node:events'
import { createServer } from 'node:net'
import { gzipSync } from 'node:zlib'

/** The protocol's bound on entries, so that all of them are read. */
const ENTRIES = 50_000
const SAMPLE_EVERY_MS = 10

process.once('message', async (order) => {
  process.send(order.role === 'serve' ? await serve(order) : await crawl(order))
})
process.once('disconnect', () => process.exit())

async function serve({ bytes, gzip }) {
  let sitemap
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (request) => {
      const path = request.toString('latin1').split(' ', 2)[1]
      if (path === '/sitemap.xml') void trickle(socket, sitemap, gzip)
      else if (path === '/robots.txt') socket.write(reply('text/plain', `Sitemap: ${origin}/sitemap.xml\n`))
      else socket.write(reply('text/html', 'home'))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${server.address().port}`
  sitemap = sitemapOf(origin, bytes)
  // Stored and not packed, so that as many pieces come over the wire.
  if (gzip) sitemap = gzipSync(sitemap, { level: 0 })
  return { url: `${origin}/`, entries: ENTRIES, wireBytes: sitemap.length }
}

/** Exactly so many bytes: what the entries do not need is one comment. */
function sitemapOf(origin, bytes) {
  const entries = Array.from({ length: ENTRIES }, (_, i) => `<url><loc>${origin}/page/${i}</loc></url>\n`)
  const [begin, end] = [`<urlset>${entries.join('')}<!--`, '--></urlset>']
  return Buffer.from(begin.padEnd(bytes - end.length, ' ') + end)
}

async function trickle(socket, bytes, gzip) {
  const encoding = gzip ? 'Content-Encoding: gzip\r\n' : ''
  socket.write(
    `HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n${encoding}Transfer-Encoding: chunked\r\n\r\n`,
  )
  const piece = Buffer.from('1\r\n \r\n')
  const step = 10_000
  for (let at = 0; at < bytes.length && !socket.destroyed; at += step) {
    const some = bytes.subarray(at, at + step)
    const pieces = Buffer.alloc(some.length * piece.length, piece)
    for (let i = 0; i < some.length; i++) pieces[i * piece.length + 3] = some[i]
    if (!socket.write(pieces)) await new Promise((resolve) => socket.once('drain', resolve))
  }
  if (!socket.destroyed) socket.write('0\r\n\r\n')
}

function reply(type, body) {
  return `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

async function crawl({ url, workers }) {
  const { Crawler } = await import('kumo')
  const { rss } = process.memoryUsage
  let start = rss()
  let peak = start
  const timer = setInterval(() => {
    peak = Math.max(peak, rss())
  }, SAMPLE_EVERY_MS)
  const began = performance.now()
  const crawler = new Crawler()
    .seeds(url)
    .exclude('/page/**')
    .delay(0)
    .timeout('10m')
    .workers(workers)
    .on('page', () => {
      // Threads stand by now; what they take without any sitemap is not what is measured.
      if (workers > 0) start = rss()
    })
  const { reason, skips } = await crawler.run()
  clearInterval(timer)
  const seconds = (performance.now() - began) / 1000
  return { reason, entries: skips.scope ?? 0, seconds, aboveStart: Math.max(peak, rss()) - start }
}
