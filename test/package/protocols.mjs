/**
 * A program that depends on undici more than others: HTTP/1.1 with what its parser refuses, HTTP/2, and proxies. It
 * prints the version of undici and one result per crawl.
 */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createRequire } from 'node:module'
import { connect, createServer as createTcpServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { Crawler } from 'kumo'

const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8')
const certificate = { cert: read('server.pem'), key: read('server.key') }
const sockets = new Set()
const servers = []

async function listen(server) {
  servers.push(server)
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `127.0.0.1:${server.address().port}`
}

/** Every page has a body in gzip, behind an interim response, with its length named twice. */
const raw = await listen(
  createTcpServer((socket) => {
    socket.on('data', (request) => {
      const [, path] = request.toString('latin1').split(' ')
      const body = gzipSync(`<title>${path}</title><a href="/next">next</a>`)
      const length = `Content-Length: ${body.length}\r\n`
      socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n')
      socket.write(`HTTP/1.1 ${path === '/robots.txt' ? '404 Not Found' : '200 OK'}\r\n${length}`)
      socket.write(`${length}Content-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n`)
      socket.write(body)
    })
  }),
)

const secure = await listen(
  createSecureServer({ ...certificate, allowHTTP1: true }, ({ httpVersion, url }, response) => {
    response.writeHead(url === '/robots.txt' ? 404 : 200, { 'content-type': 'text/html' })
    response.end(`<title>HTTP/${httpVersion}</title>`)
  }),
)

/** Forwards http requests and tunnels https, for `user:secret` only. */
const seenByProxy = []
const isAllowed = ({ headers }) =>
  headers['proxy-authorization'] === `Basic ${Buffer.from('user:secret').toString('base64')}`
const proxyServer = createServer((request, response) => {
  seenByProxy.push(request.method)
  response.writeHead(isAllowed(request) ? 200 : 407, { 'content-type': 'text/html' })
  response.end('<title>forwarded</title>')
})
proxyServer.on('connect', (request, socket) => {
  seenByProxy.push(request.method)
  const [host, port] = request.url.split(':')
  const tunnel = connect(Number(port), host, () => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    tunnel.pipe(socket).pipe(tunnel)
  })
  tunnel.on('error', () => {})
  socket.on('error', () => {})
})
const proxy = await listen(proxyServer)

/** The titles of the pages, or the codes of the failures. */
async function results(crawler) {
  const found = []
  await crawler
    .delay(0)
    .retries(0)
    .robots(false)
    .on('page', (page) => void found.push(page.title))
    .on('failure', (failure) => void found.push(failure.code))
    .run()
  return found.sort().join(', ')
}

const https = new Crawler().seeds(`https://${secure}/`).tls({ ca: read('ca.pem') })
const http = new Crawler().seeds(`http://${raw}/`)
const found = {
  http1: await results(http),
  https: await results(https),
  http2: await results(https.http2()),
  forwarded: await results(http.proxy(`http://user:secret@${proxy}`)),
  refused: await results(http.proxy(`http://user:wrong@${proxy}`)),
  tunnelled: await results(https.http2().proxy(`http://user:secret@${proxy}`)),
  proxied: [...new Set(seenByProxy)].join(', '),
}
for (const server of servers) server.close()
for (const socket of sockets) socket.destroy()
const { version } = createRequire(import.meta.resolve('kumo'))('undici/package.json')
console.log(JSON.stringify({ undici: version, found }))
