/**
 * The server of the benches that look like the web. It has its answers in memory and speaks just enough HTTP/1.1 for
 * crawlers, so that on two cores it is not the bottleneck. It runs in a process of its own and keeps a log of requests.
 *
 * Every address of 127.0.0.0/8 is a host. `{ sites }` serves archives or, without them, generated sites; `{ hosts }`
 * serves as many equal hosts.
 */

import { createServer } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { archives, readArchive } from '../../test/loopback/archives.mjs'
import { generateSite } from '../../test/loopback/generated-site.mjs'
import { addressOf, hostOfAddress, nameOf } from './hosts.mjs'

const HEAD_END = '\r\n\r\n'
const PATH_AT = 'GET '.length
const TYPES = { html: 'text/html', txt: 'text/plain', xml: 'text/xml', json: 'application/json' }
const GENERATED_SITES = 6
const GENERATED_PAGES = 1000
const MODIFIED =
  'Last-Modified: Tue, 02 Jan 2024 03:04:05 GMT\r\nETag: "65937d35-57e0"\r\nAccept-Ranges: bytes\r\n'

/** A whole response, as one buffer. */
function response(status, type, body, more = '') {
  const head =
    `HTTP/1.1 ${status}\r\nServer: bench\r\nDate: Wed, 03 Jan 2024 03:04:05 GMT\r\nContent-Type: ${type}\r\n` +
    `Content-Length: ${body.length}\r\n${more}Connection: keep-alive\r\n\r\n`
  const answer = Buffer.concat([Buffer.from(head, 'latin1'), body])
  answer.bodyBytes = body.length
  return answer
}

const MISSING = response('404 Not Found', 'text/html', Buffer.from('<h1>404 Not Found</h1>'))

function typeOf(path) {
  return TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
}

/** The answers of a site by path, and where a crawl of it begins. */
function siteOf(files) {
  const answers = new Map()
  const redirect = (to) =>
    response('301 Moved Permanently', 'text/html', Buffer.from('moved'), `Location: ${to}\r\n`)
  for (const [path, body] of files) {
    const answer = response('200 OK', typeOf(path), body, MODIFIED)
    answers.set(path, answer)
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const folder = path.slice(0, slash)
      if (answers.has(folder)) break
      answers.set(folder, redirect(`${folder}/`))
    }
    if (path.endsWith('/index.html')) answers.set(path.slice(0, -'index.html'.length), answer)
  }
  const paths = [...files.keys()].sort()
  const starts = answers.has('/') ? ['/'] : paths.filter((path) => /^\/[^/]+\/index\b[^/]*\.html$/.test(path))
  return { answers, starts }
}

function sitesWeb() {
  const names = archives()
  const files = names.length > 0 ? names.map(readArchive) : []
  while (files.length === 0 || (names.length === 0 && files.length < GENERATED_SITES))
    files.push(generateSite(GENERATED_PAGES, files.length + 1))
  const sites = files.map(siteOf)
  return {
    names: names.length > 0 ? names : sites.map((_, i) => `generated-${i + 1}`),
    answer: (host, path) => sites[host]?.answers.get(cut(path)) ?? MISSING,
    starts: sites.flatMap(({ starts }, host) => starts.map((path) => ({ host, path }))),
  }
}

function cut(path) {
  const query = path.indexOf('?')
  return query < 0 ? path : path.slice(0, query)
}

/** Equal hosts: their pages link to each other, and to a few other hosts. */
function broadWeb({ hosts, pagesPerHost, linksPerPage, bytes, origin }) {
  const pages = Array.from({ length: pagesPerHost }, (_, page) => {
    const links = Array.from({ length: linksPerPage }, (_, link) => {
      const to = (page + link) % pagesPerHost
      if (link % 10 !== 9) return `<li><a class="ref" href="/p/${to}">Page ${to}, ${link}</a></li>`
      return `<li><a href="${origin(((page * linksPerPage + link) * 7919) % hosts)}/p/0">${link}</a></li>`
    }).join('\n')
    const head = `<!doctype html><html><head><meta charset="utf-8"><title>Page ${page}</title></head><body>`
    const filler = `<p>${page}: some text that nobody reads.</p>\n`
    const body = head + links
    return Buffer.from(body + filler.repeat(Math.max(0, Math.ceil((bytes - body.length) / filler.length))))
  })
  const answers = new Map(
    pages.map((body, page) => [`/p/${page}`, response('200 OK', 'text/html; charset=utf-8', body)]),
  )
  return {
    names: [],
    answer: (_, path) => answers.get(path) ?? MISSING,
    starts: Array.from({ length: hosts }, (_, host) => ({ host, path: '/p/0' })),
  }
}

let log = []
let counts = { connections: 0, resumed: 0, bytes: 0, cpu: process.cpuUsage() }
const reset = () => {
  log = []
  counts = { connections: 0, resumed: 0, bytes: 0, cpu: process.cpuUsage() }
}

function serve(socket, web) {
  counts.connections++
  if (socket.isSessionReused?.()) counts.resumed++
  const host = hostOfAddress(socket.localAddress)
  let rest = ''
  socket.setNoDelay(true)
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    let text = rest === '' ? chunk.latin1Slice() : rest + chunk.latin1Slice()
    for (let end = text.indexOf(HEAD_END); end >= 0; end = text.indexOf(HEAD_END)) {
      const path = text.slice(PATH_AT, text.indexOf(' ', PATH_AT))
      text = text.slice(end + HEAD_END.length)
      const answer = web.answer(host, path)
      // Not a slice, which would keep the whole request.
      log.push(host, Buffer.from(path, 'latin1').latin1Slice(), answer[9] === 0x32 ? 1 : 0)
      counts.bytes += answer.bodyBytes
      socket.write(answer)
    }
    rest = text
  })
}

process.once('message', ({ options, tls }) => {
  const scheme = tls === undefined ? 'http' : 'https'
  let port = 0
  const origin = (host) => `${scheme}://${tls === undefined ? addressOf(host) : nameOf(host)}:${port}`
  let web
  const server =
    tls === undefined
      ? createServer((socket) => serve(socket, web))
      : createTlsServer(tls, (socket) => serve(socket, web))
  server.on('tlsClientError', () => {})
  server.listen({ port: 0, host: '0.0.0.0', backlog: 4096 }, () => {
    port = server.address().port
    web = options.sites ? sitesWeb() : broadWeb({ ...options, origin })
    process.send({ port, names: web.names, seeds: web.starts.map(({ host, path }) => origin(host) + path) })
  })
  process.on('message', (ask) => {
    if (ask === 'reset') {
      reset()
      process.send({})
      return
    }
    const { user, system } = process.cpuUsage(counts.cpu)
    const { connections, resumed, bytes } = counts
    const urls = ask === 'log' ? logged(origin) : undefined
    const requests = log.length / 3
    process.send({ requests, connections, resumed, bytes, cpuMs: (user + system) / 1000, urls })
  })
})
process.on('disconnect', () => process.exit())

/** What was asked for, in order: the URL, and whether there was such a page. */
function logged(origin) {
  const urls = []
  for (let at = 0; at < log.length; at += 3) {
    const [host, path, found] = log.slice(at, at + 3)
    urls.push({ url: origin(host) + path, host, path, found: found === 1 })
  }
  return urls
}
