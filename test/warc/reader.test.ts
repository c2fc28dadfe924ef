import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { readWarc, type WarcEntry } from 'kumo/warc'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LoopbackSite } from '../loopback/site.js'
import { archive, BODIES, newFolder, recordsOf, startArchivedSite } from './archived-site.js'

const folder = newFolder()

/** The entries of a file with this content. */
async function read(name: string, ...content: (string | Uint8Array)[]): Promise<WarcEntry[]> {
  const path = join(folder, name)
  writeFileSync(path, Buffer.concat(content.map((each) => Buffer.from(each as string))))
  const entries: WarcEntry[] = []
  for await (const entry of readWarc(path)) entries.push(entry)
  return entries
}

interface RecordParts {
  readonly url?: string
  readonly length?: number | string
  readonly version?: string
  readonly eol?: string
}

function record(
  block: string,
  { url = 'http://a.example/', length, version = '1.1', eol = '\r\n' }: RecordParts = {},
): string {
  const lines = [
    `WARC/${version}`,
    'WARC-Type: response',
    `WARC-Target-URI: ${url}`,
    'WARC-Date: 2026-01-02T03:04:05Z',
    'WARC-Record-ID: <urn:uuid:1>',
    'Content-Type: application/http; msgtype=response',
    `Content-Length: ${length ?? Buffer.byteLength(block)}`,
  ]
  return `${lines.join(eol)}${eol}${eol}${block}${eol}${eol}`
}

const http = (body: string, head = '') => `HTTP/1.1 200 OK\r\n${head}\r\n${body}`
const A = record(http('aaa'), { url: 'http://a.example/a' })
const B = record(http('bbb'), { url: 'http://a.example/b' })
const C = record(http('ccc'), { url: 'http://a.example/c' })

/** What was read, in short: paths of sound records, `path!` for those with problems, `x` for damage. */
function summary(entries: readonly WarcEntry[]): string {
  return entries
    .map((entry) =>
      entry.ok ? `${entry.url}`.replace(/^.*\//, '') + (entry.problems.length > 0 ? '!' : '') : 'x',
    )
    .join(' ')
}

const bodies = (entries: readonly WarcEntry[]) =>
  entries.map((entry) => (entry.ok ? Buffer.from(entry.http?.body ?? []).toString() : entry.message))

describe('formats', () => {
  it.each([
    ['plain.warc', [A, B, C]],
    ['members.warc.gz', [gzipSync(A), gzipSync(B), gzipSync(C)]],
    ['one-member.warc.gz', [gzipSync(A + B + C)]],
    ['1.0.warc', [A, B, C].map((each) => each.replace('WARC/1.1', 'WARC/1.0'))],
    ['0.18.warc', [A, B, C].map((each) => each.replace('WARC/1.1', 'WARC/0.18'))],
    [
      'unix-lines.warc',
      [A, B, C].map((each) => each.replace(/^WARC[\s\S]*?\r\n\r\n/, (head) => head.replaceAll('\r\n', '\n'))),
    ],
    ['brackets.warc', [A, B, C].map((each) => each.replace(/(WARC-Target-URI: )(\S+)/, '$1<$2>'))],
    ['no-suffix', [A, B, C]],
  ] as [string, (string | Uint8Array)[]][])('%s', async (name, content) => {
    const entries = await read(name, ...content)
    expect(summary(entries)).toBe('a b c')
    expect(bodies(entries)).toEqual(['aaa', 'bbb', 'ccc'])
    expect(entries[0]).toMatchObject({
      type: 'response',
      id: 'urn:uuid:1',
      date: Date.UTC(2026, 0, 2, 3, 4, 5),
    })
  })

  it('ARC 1 and 2', async () => {
    const answer = http('arc body', 'Content-Type: text/html\r\n')
    const description = '1 0 Example\nURL IP-address Archive-date Content-type Archive-length\n'
    const arc =
      `filedesc://x.arc 0.0.0.0 20050102030405 text/plain ${description.length}\n${description}\n` +
      `http://a.example/a 192.0.2.1 20050102030405 text/html ${answer.length}\n${answer}\n` +
      `http://a.example/b 192.0.2.1 20050102030406 text/html 200 - - 0 x.arc ${answer.length}\n${answer}\n`
    for (const [name, content] of [
      ['x.arc', arc],
      ['x.arc.gz', gzipSync(arc)],
    ] as const) {
      const [info, one, two, ...rest] = await read(name, content)
      expect(info).toMatchObject({ ok: true, type: 'warcinfo', version: 'ARC/1.0', problems: [] })
      expect(one).toMatchObject({
        url: 'http://a.example/a',
        date: Date.UTC(2005, 0, 2, 3, 4, 5),
        problems: [],
      })
      expect(two).toMatchObject({ url: 'http://a.example/b', version: 'ARC/2.0', problems: [] })
      expect(bodies([one!, two!])).toEqual(['arc body', 'arc body'])
      expect(rest).toEqual([])
    }
  })

  it('chunks that were kept, and chunks that were joined although the header says otherwise', async () => {
    const head = 'Transfer-Encoding: chunked\r\n'
    const entries = await read(
      'chunked.warc',
      record(http('3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Trailer: 1\r\n\r\n', head)),
      record(http('<p>joined</p>', head)),
      record(http('3\r\nabc\r\n9\r\nde', head)),
    )
    expect(bodies(entries)).toEqual(['abcde', '<p>joined</p>', 'abcde'])
  })

  it('records that are no HTTP', async () => {
    const [entry] = await read('resource.warc', record('just text').replace('response', 'resource'))
    expect(entry).toMatchObject({ ok: true, type: 'resource', http: undefined })
  })
})

describe('damage', () => {
  const half = (bytes: Uint8Array) => bytes.subarray(0, Math.floor(bytes.length / 2))
  const broken = (bytes: Uint8Array) => {
    const copy = Buffer.from(bytes)
    copy.fill(0xff, 40, 60)
    return copy
  }
  const random = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 251))
  const long = record(http('long '.repeat(50_000)), { url: 'http://a.example/long' })

  it.each([
    ['an empty file', [], ''],
    ['a file that is something else', [random], 'x'],
    ['text', ['Lorem ipsum\n'.repeat(100)], 'x'],
    ['the end cut off', [A, B, half(Buffer.from(C))], 'a b x'],
    ['a block cut off', [A, B, C.slice(0, -6)], 'a b c!'],
    ['the last empty line cut off', [A, B.slice(0, -2)], 'a b!'],
    ['a member cut off', [gzipSync(A), gzipSync(B), half(gzipSync(C))], 'a b x'],
    ['a long member cut off', [gzipSync(A), half(gzipSync(long, { level: 0 }))], 'a long!'],
    ['a member damaged', [gzipSync(A), broken(gzipSync(B)), gzipSync(C)], 'a x c'],
    [
      'a checksum wrong',
      [gzipSync(A), Buffer.concat([gzipSync(B).subarray(0, -8), Buffer.alloc(8)]), gzipSync(C)],
      'a b! c',
    ],
    ['junk between members', [gzipSync(A), random, gzipSync(B)], 'a x b'],
    ['junk between records', [A, random, '\r\n', B], 'a! b'],
    ['junk at the beginning', [random, '\r\n', A, B], 'x a b'],
    ['a length too short', [record(http('aaa'), { url: 'http://a.example/a', length: 5 }), B], 'a! b'],
    ['a length too long', [record(http('aaa'), { url: 'http://a.example/a', length: 60 }), B], 'a! b'],
    ['a length far too long', [record(http('aaa'), { url: 'http://a.example/a', length: 6e9 }), B], 'a!'],
    ['no length', [A.replace(/Content-Length: \d+\r\n/, ''), B], 'a! b'],
    [
      'a length that is no number',
      [record(http('aaa'), { url: 'http://a.example/a', length: 'many' }), B],
      'a! b',
    ],
    [
      'a wrong length in a member',
      [gzipSync(record(http('aaa'), { url: 'http://a.example/a', length: 60 })), gzipSync(B)],
      'a! b',
    ],
    ['an endless head', [`WARC/1.1\r\nX: ${'y'.repeat(400_000)}`], 'x'],
  ] as [string, (string | Uint8Array)[], string][])('%s', async (name, content, expected) => {
    const entries = await read(`damage-${name.replaceAll(' ', '-')}.warc`, ...content)
    expect(summary(entries)).toBe(expected)
  })

  it('says what the real length is', async () => {
    const [entry] = await read('length.warc', record(http('aaa'), { length: 5 }), B)
    expect(entry).toMatchObject({ problems: ['its Content-Length is 5, but it has 22 bytes'] })
    expect(bodies([entry!])).toEqual(['aaa'])
  })

  it('anywhere in a file never throws, and spares the records before it', async () => {
    const whole = [A, B, C, long].map((each) => gzipSync(each))
    const bytes = Buffer.concat(whole)
    for (let cut = 0; cut <= bytes.length; cut += 13) {
      const entries = await read('cut.warc.gz', bytes.subarray(0, cut))
      let end = 0
      const sound = whole.filter((member) => (end += member.length) <= cut).length
      expect(summary(entries).split(' ').slice(0, sound)).toEqual(['a', 'b', 'c', 'long'].slice(0, sound))
    }
    for (let at = 0; at < bytes.length; at += 7) {
      const damaged = Buffer.from(bytes)
      damaged[at] = damaged[at]! ^ 0xa5
      const entries = await read('flip.warc.gz', damaged)
      expect(summary(entries)).not.toBe('')
    }
  })
})

it('fails for a path that does not exist', async () => {
  await expect(readWarc(join(folder, 'nowhere')).next()).rejects.toMatchObject({
    code: 'KUMO_ARCHIVE_FAILED',
  })
})

describe.skipIf(spawnSync('wget', ['--version']).error !== undefined)(
  'of GNU Wget (skipped where it is not installed)',
  () => {
    let site: LoopbackSite

    beforeAll(async () => {
      site = await startArchivedSite()
    })
    afterAll(() => site.close())

    it('reads its archives', async () => {
      const place = join(newFolder(), 'wget')
      mkdirSync(place)
      const urls = ['/', '/plain', '/chunked', '/gzip', '/old', '/missing'].map((path) => site.url(path))
      const args = ['-q', '--warc-file=sample', '--warc-cdx', '--tries=1', '-O', '/dev/null', ...urls]
      await once(spawn('wget', args, { cwd: place }), 'close')
      const file = join(place, readdirSync(place).find((name) => name.endsWith('.warc.gz'))!)
      for (const path of [file, unpacked(file)]) {
        const responses = (await recordsOf(path)).filter(({ type }) => type === 'response')
        for (const path of ['/', '/plain', '/chunked', '/gzip', '/new', '/missing']) {
          const found = responses.find(({ url }) => url === site.url(path))
          expect(Buffer.from(found?.http?.body ?? []).equals(BODIES[path]!), path).toBe(true)
        }
      }
    })
  },
)

function unpacked(file: string): string {
  const path = join(newFolder(), 'sample.warc')
  writeFileSync(path, gunzipSync(readFileSync(file)))
  return path
}

it('reads what it wrote', async () => {
  const site = await startArchivedSite()
  const path = await archive(site)
  await site.close()
  expect((await recordsOf(path)).length).toBeGreaterThan(20)
})
