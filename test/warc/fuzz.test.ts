/** Files that nobody wrote on purpose: mutations of every kind of archive, read to their end. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { seededRandom } from 'kumo/adapters'
import { readWarc, type WarcEntry, warcReplay } from 'kumo/warc'
import { afterAll, describe, expect, it } from 'vitest'
import { Captures } from '../../src/warc/captures.js'
import { isThorough } from '../thorough.js'

const folder = mkdtempSync(join(tmpdir(), 'kumo-warc-fuzz-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ROUNDS = isThorough ? 5000 : 60

function record(type: string, block: string, version = '1.1', more = ''): string {
  return (
    `WARC/${version}\r\nWARC-Type: ${type}\r\nWARC-Target-URI: http://a.example/${type}\r\n` +
    `WARC-Date: 2026-01-02T03:04:05Z\r\nWARC-Record-ID: <urn:uuid:1>\r\n${more}` +
    `Content-Type: application/http\r\nContent-Length: ${Buffer.byteLength(block)}\r\n\r\n${block}\r\n\r\n`
  )
}

const PAGE = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>page</title>'
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n'
const MANY_HEADERS = `HTTP/1.1 200 OK\r\n${'X-Many: of them\r\n'.repeat(3000)}\r\nbody`
const RECORDS = [
  record('warcinfo', 'software: test\r\n'),
  record('response', PAGE),
  record('request', 'GET / HTTP/1.1\r\nHost: a.example\r\n\r\n'),
  record('response', CHUNKED, '1.0'),
  record('response', MANY_HEADERS),
  record('revisit', 'HTTP/1.1 304 Not Modified\r\n\r\n', '1.1', 'WARC-Refers-To-Date: yesterday\r\n'),
  record('resource', 'text'),
]
const ARC =
  `filedesc://x.arc 0.0.0.0 20050102030405 text/plain 68\n1 0 Example\nURL IP-address Archive-date Content-type Archive-length\n\n` +
  `http://a.example/a 192.0.2.1 20050102030405 text/html ${PAGE.length}\n${PAGE}\n`.repeat(3)

const SAMPLES: Readonly<Record<string, Buffer>> = {
  'plain.warc': Buffer.from(RECORDS.join('')),
  'members.warc.gz': Buffer.concat(RECORDS.map((each) => gzipSync(each))),
  'whole.warc.gz': gzipSync(RECORDS.join('')),
  'lines.warc': Buffer.from(
    RECORDS.map((each) =>
      each.replace(/^WARC[\s\S]*?\r\n\r\n/, (head) => head.replaceAll('\r\n', '\n')),
    ).join(''),
  ),
  'x.arc': Buffer.from(ARC),
  'x.arc.gz': gzipSync(ARC),
}

/** A few changes of the kinds that disks, transfers and other programs make. */
function mutated(bytes: Buffer, random: { next(): number }): Buffer {
  let result = Buffer.from(bytes)
  const at = () => Math.floor(random.next() * (result.length + 1))
  for (let changes = 1 + Math.floor(random.next() * 4); changes > 0; changes--) {
    const [from, to] = [at(), at()].sort((a, b) => a - b) as [number, number]
    const kind = Math.floor(random.next() * 7)
    if (kind === 0) result = result.subarray(0, to)
    else if (kind === 1) result = Buffer.concat([result.subarray(0, from), result.subarray(to)])
    else if (kind === 2) result = Buffer.concat([result.subarray(0, to), result.subarray(from)])
    else if (kind === 3) result.fill(0, from, Math.min(to, from + 600))
    else if (kind === 4 && from < result.length) result[from] = Math.floor(random.next() * 256)
    else if (kind === 5) {
      const noise = Buffer.from(Array.from({ length: 300 }, () => Math.floor(random.next() * 256)))
      result = Buffer.concat([result.subarray(0, from), noise, result.subarray(from)])
    } else {
      const text = result.toString('latin1')
      const lengths = [...text.matchAll(/Content-Length: \d+/g)]
      const found = lengths[Math.floor(random.next() * lengths.length)]
      const wrong = ['-1', '0', '99999999999999', '1e9', '', '18446744073709551616', '7'][from % 7]!
      if (found !== undefined)
        result = Buffer.from(
          `${text.slice(0, found.index)}Content-Length: ${wrong}${text.slice(found.index + found[0].length)}`,
          'latin1',
        )
    }
  }
  return result
}

async function entriesOf(path: string): Promise<WarcEntry[]> {
  const entries: WarcEntry[] = []
  for await (const entry of readWarc(path)) entries.push(entry)
  return entries
}

describe.each(Object.entries(SAMPLES))('%s', (name, sample) => {
  it('is sound before it is changed', async () => {
    const path = join(folder, name)
    writeFileSync(path, sample)
    const entries = await entriesOf(path)
    expect(entries.map((entry) => (entry.ok ? entry.problems : entry.message))).toEqual(entries.map(() => []))
    expect(entries.length).toBeGreaterThan(3)
  })

  it(`is read to its end after ${ROUNDS} mutations, without an exception and in order`, async () => {
    for (let seed = 0; seed < ROUNDS; seed++) {
      const bytes = mutated(sample, seededRandom(seed))
      const path = join(folder, `fuzz-${name}`)
      writeFileSync(path, bytes)
      let end = 0
      for (const entry of await entriesOf(path)) {
        const { offset, length } = entry
        // Records of one member share its place.
        expect(offset, `seed ${seed}`).toBeGreaterThanOrEqual(0)
        expect(offset + length, `seed ${seed}`).toBeLessThanOrEqual(bytes.length)
        expect(offset + length, `seed ${seed}`).toBeGreaterThanOrEqual(end)
        end = offset + length
        if (!entry.ok) continue
        // Everything that is computed late.
        void [entry.type, entry.id, entry.url, entry.date, entry.http?.body.length, entry.http?.header('x')]
      }
      // All bytes but empty lines are accounted for.
      if (/[^\r\n]/.test(bytes.toString('latin1'))) expect(end, `seed ${seed}`).toBeGreaterThan(0)
      await Captures.load(path)
    }
  })
})

it('a member that inflates to far more than it is does not fill the memory', async () => {
  const path = join(folder, 'bomb.warc.gz')
  const zeros = Buffer.alloc(100 * 1024 * 1024)
  const head = Buffer.from(
    'WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/bomb\r\nContent-Length: 104857600\r\n\r\n',
  )
  writeFileSync(path, Buffer.concat([gzipSync(Buffer.concat([head, zeros])), gzipSync(RECORDS[1]!)]))
  const entries = await entriesOf(path)
  expect(entries[0]).toMatchObject({ ok: true, url: 'http://a.example/bomb' })
  for (const entry of entries) if (entry.ok) expect(entry.block.length).toBeLessThanOrEqual(64 * 1024 * 1024)
  expect(entries.at(-1)).toMatchObject({ ok: true, url: 'http://a.example/response' })
  expect(() => warcReplay(path)).not.toThrow()
})
