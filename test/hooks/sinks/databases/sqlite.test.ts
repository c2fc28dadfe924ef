import { join } from 'node:path'
import { sqlite } from 'kumo/sinks'
import Database from 'libsql'
import { describe, expect, test } from 'vitest'
import { newFolder, pageNumber, writeAll } from '../support.js'

function rows(path: string, sql: string): unknown[] {
  const database = new Database(path)
  try {
    return database.prepare(sql).all()
  } finally {
    database.close()
  }
}

describe('sqlite', () => {
  test('keeps one row for each page, and replaces it', async () => {
    const path = join(newFolder(), 'a/pages.db')
    await writeAll(sqlite(path), [pageNumber(1, { data: { price: 3 } }), pageNumber(2)])
    await writeAll(sqlite(path), [
      pageNumber(1, { change: 'changed', title: 'New' }),
      pageNumber(2, { change: 'gone' }),
      pageNumber(3, { data: { nul: '\0' } }),
    ])
    expect(rows(path, 'SELECT url, title, change, data FROM pages ORDER BY url')).toMatchObject([
      { url: 'https://example.com/1', title: 'New', change: 'changed', data: '{}' },
      { url: 'https://example.com/2', title: 'Page 2', change: 'gone', data: '{}' },
      { url: 'https://example.com/3', title: 'Page 3', change: 'new', data: '{"nul":"\\ufffd"}' },
    ])
  })

  test('finds pages by their words, also those from before the index, and not by words that are gone', async () => {
    const path = join(newFolder(), 'pages.db')
    const found = (word: string) =>
      rows(
        path,
        `SELECT url FROM pages JOIN pages_search ON pages_search.rowid = pages.number WHERE pages_search MATCH '${word}' ORDER BY url`,
      ).map((row) => (row as { url: string }).url.at(-1))
    await writeAll(sqlite(path), [pageNumber(1, { text: 'A spider in the cloud.' })])
    await writeAll(sqlite(path, { search: 'words' }), [pageNumber(2, { text: 'Spíder webs.' })])
    expect(found('spider')).toEqual(['1', '2'])
    await writeAll(sqlite(path, { search: 'words' }), [pageNumber(1, { text: 'Rain.', change: 'changed' })])
    expect(found('spider')).toEqual(['2'])
    expect(found('rain')).toEqual(['1'])
  })

  test('finds parts of words with trigrams', async () => {
    const path = join(newFolder(), 'pages.db')
    await writeAll(sqlite(path, { search: 'trigram' }), [pageNumber(1, { text: '東京都の天気予報' })])
    expect(rows(path, "SELECT rowid FROM pages_search WHERE pages_search MATCH '天気予'")).toHaveLength(1)
  })

  test('a database that another program locks is tried again', async () => {
    const path = join(newFolder(), 'pages.db')
    const hook = sqlite(path, { retry: { first: 1, attempts: 3 } })
    await writeAll(hook, [pageNumber(1)])
    expect(rows(path, 'PRAGMA journal_mode')).toMatchObject([{ journal_mode: 'wal' }])
  })

  test('a file that is no database is an error with its path', async () => {
    const folder = newFolder()
    await expect(writeAll(sqlite(folder), [])).rejects.toThrow(`sqlite: ${folder} cannot be used`)
  })

  test.each<[object, string]>([
    [{ search: true }, "sqlite.search: got true; allowed: 'words', 'trigram' or false"],
    [{ table: 'a.b' }, "sqlite.table: got 'a.b'; allowed: the name of a table such as 'pages'"],
    [{ table: 'a b' }, "sqlite.table: got 'a b'"],
  ])('%j', (options, message) => {
    expect(() => sqlite('pages.db', options as never)).toThrow(message)
  })
})
