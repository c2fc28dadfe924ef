/**
 * Serves folders of files, each at an address of its own: the first at 127.0.0.1, the second at 127.0.0.2, … `/all-pages`
 * links to every page of its folder. Started by files.ts in a process of its own.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'

const TYPES = { '.html': 'text/html', '.htm': 'text/html', '.txt': 'text/plain', '.xml': 'application/xml' }

/** As most servers do, from a cache as they have one. */
const codesContent = process.env.KUMO_FILES_GZIP === '1'
const kept = new Map()
const coded = (key, content) => {
  if (!kept.has(key)) kept.set(key, gzipSync(content))
  return kept.get(key)
}

/** By address, then by path. */
const sites = process.argv.slice(2).map((folder) => {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const pages = names.filter((name) => /\.html?$/.test(name)).sort()
  const files = new Map(pages.map((name) => [`/${encodeURI(name)}`, join(folder, name)]))
  const links = [...files.keys()].map((path) => `<li><a href="${path.replaceAll('&', '&amp;')}">${path}</a>`)
  return { files, list: Buffer.from(`<title>All pages</title><ul>${links.join('\n')}</ul>`) }
})

const server = createServer((request, response) => {
  const host = /^127\.0\.0\.(\d+)/.exec(request.headers.host ?? '')?.[1]
  const site = sites[Number(host) - 1]
  const path = request.url ?? '/'
  const file = site?.files.get(path)
  const body = path === '/all-pages' ? site?.list : file && readFileSync(file)
  const type = file === undefined ? 'text/html' : (TYPES[extname(file)] ?? 'application/octet-stream')
  const content = body ?? Buffer.from('not found')
  const isCoded = codesContent && /\bgzip\b/.test(String(request.headers['accept-encoding']))
  const sent = isCoded ? coded(`${host}${path}`, content) : content
  response.writeHead(body ? 200 : 404, {
    'Content-Type': type,
    'Content-Length': sent.length,
    ...(isCoded && { 'Content-Encoding': 'gzip' }),
  })
  response.end(sent)
})
server.listen(0, '0.0.0.0', () => {
  process.send?.({ port: server.address().port, pages: sites.map(({ files }) => files.size) })
})
process.on('disconnect', () => process.exit())
