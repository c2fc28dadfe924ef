/**
 * Serves the files of a folder as HTML, on every address of 127.0.0.0/8: [folder]. Sends its port to its parent. Below
 * `/slow/` a response takes 50 ms, and a host works on 16 of them at a time.
 */

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join, normalize } from 'node:path'

const [folder] = process.argv.slice(2)
const kept = new Map()

const SLOTS = 16
const SLOW_MS = 50
/** Requests below /slow/ by host: how many are worked on, and which wait. */
const hosts = new Map()

function slowly(host, answer) {
  const state = hosts.get(host) ?? { busy: 0, waiting: [] }
  hosts.set(host, state)
  const start = (next) => {
    state.busy++
    setTimeout(() => {
      next()
      state.busy--
      const waiting = state.waiting.shift()
      if (waiting !== undefined) start(waiting)
    }, SLOW_MS)
  }
  if (state.busy < SLOTS) start(answer)
  else state.waiting.push(answer)
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost')
  const isSlow = pathname.startsWith('/slow/')
  const path = normalize(decodeURI(isSlow ? pathname.slice('/slow'.length) : pathname))
  if (isSlow) slowly(request.headers.host, () => answer(path, response))
  else answer(path, response)
})

function answer(path, response) {
  let body = kept.get(path)
  if (body === undefined) {
    try {
      body = readFileSync(join(folder, path))
    } catch {
      response.writeHead(404).end()
      return
    }
    kept.set(path, body)
  }
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-length': body.length })
  response.end(body)
}

server.listen(0, '0.0.0.0', () => process.send(server.address().port))
process.on('disconnect', () => process.exit())
