import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Page } from 'kumo'
import { csv, jsonl } from 'kumo/sinks'
import { describe, expect, test } from 'vitest'
import { newFolder, newState, pageNumber, writeAll } from '../support.js'

const url = ({ url }: Page) => ({ url })
const pages = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => pageNumber(from + i))
const lines = (text: string) => text.split('\n').slice(0, -1)
const numbers = (text: string) => lines(text).map((line) => Number(JSON.parse(line).url.split('/').at(-1)))
const hasZstd = 'zstdCompress' in process.getBuiltinModule('node:zlib')

describe('a file', () => {
  test('has a line for each page, and grows with the next crawl', async () => {
    const path = join(newFolder(), 'a/b/pages.jsonl')
    await writeAll(jsonl(path, { record: url }), pages(0, 3))
    await writeAll(jsonl(path, { record: url }), pages(3, 5))
    expect(numbers(readFileSync(path, 'utf8'))).toEqual([0, 1, 2, 3, 4])
  })

  test('a line that was cut off by a crash is removed', async () => {
    const path = join(newFolder(), 'pages.jsonl')
    await writeAll(jsonl(path, { record: url }), pages(0, 2))
    appendFileSync(path, '{"url":"https://exam')
    await writeAll(jsonl(path, { record: url }), pages(2, 3))
    expect(numbers(readFileSync(path, 'utf8'))).toEqual([0, 1, 2])
  })

  test.each(hasZstd ? (['gzip', 'zstd'] as const) : (['gzip'] as const))(
    'compressed by %s is one stream, also after a crash',
    async (compress) => {
      const path = join(newFolder(), 'pages.jsonl')
      const sink = () => jsonl(path, { record: url, compress, batch: { pages: 2 } })
      const name = path + (compress === 'gzip' ? '.gz' : '.zst')
      await writeAll(sink(), pages(0, 5))
      const whole = readFileSync(name)
      for (const cut of [1, 3, 7]) {
        writeFileSync(name, Buffer.concat([whole, whole.subarray(0, cut)]))
        await writeAll(sink(), pages(5, 6))
        const text = compress === 'gzip' ? gunzipSync(readFileSync(name)).toString() : unzstd(name)
        expect(numbers(text)).toEqual([0, 1, 2, 3, 4, 5])
        writeFileSync(name, whole)
      }
      // Inside the last batch: it is gone, the others stay.
      writeFileSync(name, whole.subarray(0, -5))
      await writeAll(sink(), pages(5, 6))
      const text = compress === 'gzip' ? gunzipSync(readFileSync(name)).toString() : unzstd(name)
      expect(numbers(text)).toEqual([0, 1, 2, 3, 5])
    },
  )

  test('of somebody else is not touched', async () => {
    const path = join(newFolder(), 'pages.jsonl.gz')
    writeFileSync(path, 'something else that is long enough')
    await expect(writeAll(jsonl(path, { compress: 'gzip' }), [])).rejects.toThrow(
      `${path} exists and was not written by this sink`,
    )
    expect(readFileSync(path, 'utf8')).toBe('something else that is long enough')
  })

  test('rotates, and continues with its last part', async () => {
    const folder = newFolder()
    const sink = () => jsonl(join(folder, 'pages.jsonl'), { record: url, rotate: 100, batch: { pages: 1 } })
    await writeAll(sink(), pages(0, 5))
    await writeAll(sink(), pages(5, 6))
    const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
    expect(names).toEqual(['pages-00001.jsonl', 'pages-00002.jsonl'])
    const parts = names.map((name) => numbers(readFileSync(join(folder, name), 'utf8')))
    expect(parts).toEqual([
      [0, 1, 2],
      [3, 4, 5],
    ])
  })

  test('that another program writes to, or that was deleted, is an error and not a mixture', async () => {
    const path = join(newFolder(), 'pages.jsonl')
    const reasons: string[] = []
    const hook = jsonl(path, {
      record: url,
      retry: { attempts: 1 },
      dead: { report: ({ reason }) => reasons.push(reason) },
    })
    await hook.open?.({ state: newState() })
    appendFileSync(path, 'x\n')
    await hook.page?.(pageNumber(1))
    await hook.flush?.()
    rmSync(path)
    await hook.close?.()
    expect(reasons).toEqual([`another program writes to ${path}: it has 2 bytes instead of 0`])
    expect(existsSync(path)).toBe(false)
  })

  test.runIf(existsSync('/dev/full'))('a full disk is repeated, then a dead letter', async () => {
    const reasons: string[] = []
    const hook = jsonl('/dev/full', {
      retry: { attempts: 2, first: 1 },
      dead: { report: ({ reason }) => reasons.push(reason) },
    })
    await writeAll(hook, pages(0, 1))
    expect(reasons).toEqual([expect.stringContaining('/dev/full: ENOSPC')])
    expect(hook.stats()).toMatchObject({ retries: 1, dead: 1 })
  })
})

describe('after a crash', () => {
  test('what is not in the journal is cut off, and what was delivered again is written once', async () => {
    const path = join(newFolder(), 'pages.jsonl')
    const state = newState()
    const hook = jsonl(path, { record: url, batch: { pages: 1 } })
    await hook.open?.({ state })
    for (const page of pages(0, 4)) await hook.page?.(page)
    await hook.flush?.()
    // Killed between the batch and its entry in the journal; page 3 was not settled before.
    appendFileSync(path, '{"url":"https://example.com/4"}\n{"url":"https://exam')
    await hook.close?.()

    const next = jsonl(path, { record: url })
    await writeAll(next, pages(3, 7), state)
    expect(numbers(readFileSync(path, 'utf8'))).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(next.stats().repeated).toBe(1)
    // An entry of the journal that was cut off takes its batch with it.
    writeFileSync(`${path}.kumo`, readFileSync(`${path}.kumo`, 'utf8').slice(0, -3))
    await writeAll(jsonl(path, { record: url }), pages(4, 7), state)
    expect(numbers(readFileSync(path, 'utf8'))).toEqual([0, 1, 2, 3, 4, 5, 6])
  })

  test('another crawl into the same file writes all its pages', async () => {
    const path = join(newFolder(), 'pages.jsonl')
    await writeAll(jsonl(path, { record: url }), pages(0, 2))
    await writeAll(jsonl(path, { record: url }), pages(1, 3))
    expect(numbers(readFileSync(path, 'utf8'))).toEqual([0, 1, 1, 2])
  })

  test('a page that has changed since is written again', async () => {
    const path = join(newFolder(), 'pages.jsonl')
    const state = newState()
    await writeAll(jsonl(path, { record: url }), pages(0, 2), state)
    await writeAll(jsonl(path, { record: url }), [pageNumber(1, { change: 'changed' })], state)
    expect(numbers(readFileSync(path, 'utf8'))).toEqual([0, 1, 1])
  })

  test('parts behind the journal are removed', async () => {
    const folder = newFolder()
    const state = newState()
    const sink = () => jsonl(join(folder, 'p.jsonl'), { record: url, rotate: 50, batch: { pages: 1 } })
    await writeAll(sink(), pages(0, 1), state)
    writeFileSync(join(folder, 'p-00002.jsonl'), '{"url":"https://example.com/1"}\n')
    await writeAll(sink(), pages(1, 2), state)
    const parts = readdirSync(folder).filter((name) => name.endsWith('.jsonl'))
    expect(parts.flatMap((name) => numbers(readFileSync(join(folder, name), 'utf8')))).toEqual([0, 1])
  })

  test('a row of CSV that was cut inside of a cell is removed', async () => {
    const path = join(newFolder(), 'pages.csv')
    const sink = () => csv(path, { columns: { title: ({ data }) => (data as { t: string }).t } })
    await writeAll(sink(), [pageNumber(1, { data: { t: 'two\nlines' } })])
    appendFileSync(path, '"half of\r\n a ""cell')
    await writeAll(sink(), [pageNumber(2, { data: { t: 'next' } })])
    expect(readFileSync(path, 'utf8')).toBe('title\r\n"two\nlines"\r\nnext\r\n')
  })
})

function unzstd(path: string): string {
  const { zstdDecompressSync } = process.getBuiltinModule('node:zlib') as unknown as {
    zstdDecompressSync(bytes: Uint8Array): Buffer
  }
  return zstdDecompressSync(readFileSync(path)).toString()
}
