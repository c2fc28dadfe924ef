/** Bodies that are not what their headers say, or more than they seem. */

import { gzipSync } from 'node:zlib'
import { type HostileRoute, page, send } from './route.js'

const BOMB_BYTES = 32 * 1024 * 1024
const STORY = `<title>Story</title>${Array.from({ length: 2000 }, (_, n) => `<p>Line ${n} of it.`).join('\n')}`
const JAPANESE_IN_SHIFT_JIS = Buffer.from('93fa967b8cea', 'hex')
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

let bomb: Buffer | undefined

/** Compressed so many times. */
function gzipTimes(text: string, times: number): Buffer {
  let body = Buffer.from(text)
  for (let n = 0; n < times; n++) body = gzipSync(body)
  return body
}

function gzipped(name: string, does: string, body: () => Uint8Array, times = 1): HostileRoute {
  const encoding = Array(times).fill('gzip').join(', ')
  return {
    name,
    path: `/${name}`,
    does,
    answer: (_, response) => page(response, body(), { 'content-encoding': encoding }),
  }
}

export const ENCODINGS: readonly HostileRoute[] = [
  gzipped('gzip-bomb', 'sends 32 KB of gzip that become 32 MB', () => {
    bomb ??= gzipSync(Buffer.alloc(BOMB_BYTES, '<p>boom '))
    return bomb
  }),
  gzipped('truncated-gzip', 'sends the first half of a gzipped page', () => {
    const whole = gzipSync(STORY)
    return whole.subarray(0, whole.length / 2)
  }),
  gzipped('broken-gzip', 'sends a gzipped page with a wrong byte in its middle', () => {
    const body = gzipSync(STORY)
    body[body.length >> 1]! ^= 0xff
    return body
  }),
  gzipped('false-gzip', 'says gzip and sends plain text', () => Buffer.from(STORY)),
  gzipped('nested-gzip', 'sends a page that was gzipped twice', () => gzipTimes(STORY, 2), 2),
  gzipped('deeply-nested-gzip', 'sends a page that was gzipped ten times', () => gzipTimes(STORY, 10), 10),
  {
    name: 'unknown-encoding',
    path: '/unknown-encoding',
    does: 'names a Content-Encoding that nobody knows',
    answer: (_, response) => page(response, STORY, { 'content-encoding': 'x-nobody' }),
  },
  {
    name: 'lying-charset',
    path: '/lying-charset',
    does: 'says UTF-8 and sends windows-1252',
    answer: (_, response) => page(response, Buffer.from('<title>Caf\xe9</title>', 'latin1')),
  },
  {
    name: 'undeclared-charset',
    path: '/undeclared-charset',
    does: 'sends Shift_JIS and does not say so',
    answer: (_, response) => {
      const body = Buffer.concat([Buffer.from('<title>'), JAPANESE_IN_SHIFT_JIS, Buffer.from('</title>')])
      send(response, 200, body, { 'content-type': 'text/html' })
    },
  },
  {
    name: 'lying-media-type',
    path: '/lying-media-type',
    does: 'says text/html and sends a picture',
    answer: (_, response) => page(response, PNG),
  },
  {
    name: 'page-as-octets',
    path: '/page-as-octets',
    does: 'says application/octet-stream and sends a page',
    answer: (_, response) =>
      send(response, 200, `<!DOCTYPE html><html>${STORY}`, { 'content-type': 'application/octet-stream' }),
  },
]
