/** Against a real server from Debian's packages. */

import { postgres } from 'kumo/sinks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newState, pageNumber, writeAll } from '../support.js'
import { findPostgres, PostgresServer } from './postgres-server.js'

const found = findPostgres()
const reason = 'reason' in found ? found.reason : undefined

describe.skipIf(reason !== undefined)(
  `postgres${reason === undefined ? '' : ` (skipped: ${reason})`}`,
  () => {
    let server: PostgresServer

    beforeAll(async () => {
      server = await PostgresServer.create((found as { bin: string }).bin)
    })
    afterAll(() => server?.remove())

    test('keeps one row for each page, with its fields', async () => {
      const hook = postgres(server.url, { table: 'fields' })
      await writeAll(hook, [
        pageNumber(1, { data: { price: 3 } }),
        pageNumber(2),
        pageNumber(1, { data: { price: 4 } }),
      ])
      const rows = await server.query<Record<string, unknown>>('SELECT * FROM fields ORDER BY url')
      expect(rows).toEqual([
        {
          id: pageNumber(1).id,
          url: 'https://example.com/1',
          host: 'example.com',
          status: 200,
          change: 'new',
          fetched_at: new Date('2023-11-14T22:13:20.000Z'),
          media_type: 'text/html',
          language: 'en',
          title: 'Page 1',
          depth: 0,
          parent: '',
          text: 'The text of page 1.',
          data: { price: 4 },
        },
        expect.objectContaining({ url: 'https://example.com/2' }),
      ])
    })

    test('a page that is unchanged or gone keeps its content', async () => {
      await writeAll(postgres(server.url, { table: 'visits' }), [pageNumber(1), pageNumber(2)])
      await writeAll(postgres(server.url, { table: 'visits' }), [
        pageNumber(1, { change: 'unchanged' }),
        pageNumber(2, { change: 'gone' }),
      ])
      expect(await server.query('SELECT title, status, change FROM visits ORDER BY url')).toEqual([
        { title: 'Page 1', status: 304, change: 'unchanged' },
        { title: 'Page 2', status: 404, change: 'gone' },
      ])
    })

    test('takes what databases refuse: NUL, halves of surrogates, quotes, backslashes, huge texts', async () => {
      const data = { a: 'nul\0', b: '\ud800', c: '\\u0000', d: '{"x",\\}', 'k\0': "it's" }
      const odd = pageNumber(1, {
        data,
        title: 'a\\0b',
        text: 'word '.repeat(300_000),
        url: 'https://example.com/%00%0A?a=%22',
      })
      const hook = postgres(server.url, { table: 'odd' })
      await writeAll(hook, [odd, pageNumber(2)])
      expect(hook.stats()).toMatchObject({ written: 2, dead: 0 })
      const [row] = await server.query<{ data: object; length: number }>(
        "SELECT data, length(text) FROM odd WHERE title <> 'Page 2'",
      )
      expect(row).toEqual({
        data: { a: 'nul\uFFFD', b: '\uFFFD', c: '\\u0000', d: '{"x",\\}', 'k\uFFFD': "it's" },
        length: 1_000_000,
      })
    })

    test('a row that the table refuses is a dead letter; the others are written', async () => {
      await writeAll(postgres(server.url, { table: 'strict' }), [])
      await server.query("ALTER TABLE strict ADD CHECK (title <> 'Page 2')")
      const reasons: string[] = []
      const hook = postgres(server.url, {
        table: 'strict',
        dead: { report: ({ url, reason }) => reasons.push(`${url} ${reason}`) },
      })
      await writeAll(hook, [pageNumber(1), pageNumber(2), pageNumber(3)])
      expect(reasons).toEqual([expect.stringMatching(/^https:\/\/example.com\/2 PostgreSQL 23514: /)])
      expect(await server.query('SELECT title FROM strict ORDER BY title')).toEqual([
        { title: 'Page 1' },
        { title: 'Page 3' },
      ])
    })

    test('a server that is killed and comes back costs time and nothing else', async () => {
      const hook = postgres(server.url, { table: 'down', retry: { first: 20, most: 100, attempts: 1000 } })
      await hook.open?.({ state: newState() })
      await hook.page?.(pageNumber(1))
      await hook.flush?.()
      await server.kill()
      await hook.page?.(pageNumber(2))
      const flushing = hook.flush?.()
      await server.start()
      await flushing
      await hook.close?.()
      expect(await server.query('SELECT title FROM down ORDER BY title')).toEqual([
        { title: 'Page 1' },
        { title: 'Page 2' },
      ])
    })

    test('two programs that create the table at once', async () => {
      const both = [1, 2].map((n) => writeAll(postgres(server.url, { table: 'twice' }), [pageNumber(n)]))
      await Promise.all(both)
      expect(await server.query('SELECT count(*)::int AS count FROM twice')).toEqual([{ count: 2 }])
    })

    test('a table in another form is an error with its reason, and the password is not shown', async () => {
      const url = server.url.replace('kumo@', 'kumo:secret@')
      await server.query('CREATE VIEW seen AS SELECT 1 AS id')
      const hook = postgres(url, { table: 'nowhere.pages' })
      const error = await writeAll(hook, []).catch((error: Error) => error)
      expect(String(error)).toContain(
        `postgres: the table 'nowhere.pages' cannot be used: schema "nowhere" does not exist`,
      )
      expect(String(error)).not.toContain('secret')
    })
  },
)

describe('misuse', () => {
  test.each<[() => unknown, string]>([
    [() => postgres('localhost'), 'postgres: got a text that is not a URL of PostgreSQL'],
    [() => postgres(3 as never), 'postgres: got 3'],
    [() => postgres({}, { table: 'a; DROP TABLE b' }), "postgres.table: got 'a; DROP TABLE b'"],
    [
      () => postgres({}, { text: 'body' as never }),
      "postgres.text: got 'body'; allowed: 'main', 'all' or 'none'",
    ],
    [() => postgres({}, { tabel: 'x' } as never), "postgres: got the key 'tabel'"],
  ])('%s', (make, message) => {
    expect(make).toThrow(message)
  })

  test('a server that is not there fails before the first page', async () => {
    const hook = postgres('postgres://kumo@127.0.0.1:1/x')
    await expect(writeAll(hook, [])).rejects.toThrow(
      "postgres: the table 'pages' cannot be used: connect ECONNREFUSED",
    )
  })
})
