import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { invalidOption, KumoError, messageOf } from '../../../errors.js'
import { type DocumentSinkOptions, documentMaker, lastOfEach } from '../documents.js'
import { loadDriver } from '../driver.js'
import type { DocumentRecord } from '../record.js'
import { text } from '../settings.js'
import { type SinkHook, sink } from '../sink.js'
import { COLUMNS, tableName, updates } from './columns.js'

/** Options of `sqlite()`. */
export interface SqliteOptions extends DocumentSinkOptions {
  /** The table, created if it is missing. Default `'pages'`. */
  readonly table?: string | undefined
  /**
   * A full-text index (FTS5) of title and text, named like the table with `_search` after it. `'words'`: for languages
   * that write spaces between words. `'trigram'`: for all others, and for parts of words. Default false.
   */
  readonly search?: 'words' | 'trigram' | false | undefined
}

/** What is used of `libsql`. */
interface Database {
  exec(sql: string): unknown
  prepare(sql: string): { run(...values: unknown[]): unknown; get(...values: unknown[]): unknown }
  close(): void
}

const TOKENIZERS = { words: 'unicode61 remove_diacritics 2', trigram: 'trigram' } as const

/** How long another program may hold the database before a write fails and is repeated. */
const BUSY_MS = 5000

/**
 * Keeps one row for each page in a table of an SQLite database, with a full-text index if you want one. A batch is one
 * transaction. A page that is visited again replaces its row; a page that is unchanged or gone keeps its content, and its
 * row says so. Needs the package `libsql`.
 *
 * @example
 * await new Crawler().seeds('https://example.com/').use(sqlite('pages.db', { search: 'words' })).run()
 */
export function sqlite(path: string, options: SqliteOptions = {}): SinkHook {
  text('sqlite: path', path, 'the path of a file')
  const record = documentMaker('sqlite', options, ['table', 'search'])
  const { table: given = 'pages', search = false, ...rest } = options
  if (typeof given !== 'string' || given.includes('.'))
    throw invalidOption('sqlite.table', given, "the name of a table such as 'pages'")
  if (search !== false && !Object.hasOwn(TOKENIZERS, search))
    throw invalidOption('sqlite.search', search, "'words', 'trigram' or false")
  const table = tableName('sqlite.table', given)
  let database: Database | undefined
  let insert: ReturnType<Database['prepare']> | undefined
  return sink<DocumentRecord>({
    ...rest,
    name: `sqlite ${path}`,
    record,
    open() {
      const Driver = loadDriver('sqlite', 'libsql', (require) => require('libsql')) as new (
        path: string,
      ) => Database
      try {
        if (path !== ':memory:') mkdirSync(dirname(resolve(path)), { recursive: true })
        database = new Driver(path)
        database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
        database.exec('PRAGMA journal_mode = WAL')
        database.exec(create(table))
        if (search !== false) addSearch(database, given, TOKENIZERS[search])
        insert = database.prepare(insertInto(table))
      } catch (cause) {
        database?.close()
        const message = `sqlite: ${path} cannot be used: ${messageOf(cause)}`
        throw new KumoError('KUMO_SINK_FAILED', message, { cause })
      }
    },
    write(batch) {
      database!.exec('BEGIN IMMEDIATE')
      try {
        for (const { record } of lastOfEach(batch)) insert!.run(...COLUMNS.map(([, field]) => record[field]))
        database!.exec('COMMIT')
      } catch (error) {
        database!.exec('ROLLBACK')
        throw error
      }
    },
    close() {
      database?.close()
      database = undefined
    },
  })
}

/** `number` and not the hidden rowid: `VACUUM` changes that, and the index refers to it. */
function create(table: string): string {
  const types: Readonly<Record<string, string>> = {
    id: 'TEXT NOT NULL UNIQUE',
    status: 'INTEGER NOT NULL',
    depth: 'INTEGER NOT NULL',
  }
  const columns = COLUMNS.map(([column]) => `${column} ${types[column] ?? 'TEXT NOT NULL'}`)
  return `CREATE TABLE IF NOT EXISTS ${table} (number INTEGER PRIMARY KEY, ${columns.join(', ')})`
}

function insertInto(table: string): string {
  const names = COLUMNS.map(([column]) => column).join(', ')
  const places = COLUMNS.map(() => '?').join(', ')
  return `INSERT INTO ${table} (${names}) VALUES (${places}) ON CONFLICT (id) DO UPDATE SET ${updates(table)}`
}

function addSearch(database: Database, name: string, tokenizer: string): void {
  const isThere =
    database.prepare('SELECT 1 FROM sqlite_master WHERE name = ?').get(`${name}_search`) !== undefined
  database.exec(createSearch(name, tokenizer))
  // Rows that were written before there was an index.
  if (!isThere) database.exec(`INSERT INTO "${name}_search" ("${name}_search") VALUES ('rebuild')`)
}

/** The index keeps no copy of the texts; triggers keep it equal to the table. */
function createSearch(name: string, tokenizer: string): string {
  const [table, index] = [`"${name}"`, `"${name}_search"`]
  const add = `INSERT INTO ${index} (rowid, title, text) VALUES (new.number, new.title, new.text);`
  const remove = `INSERT INTO ${index} (${index}, rowid, title, text) VALUES ('delete', old.number, old.title, old.text);`
  const trigger = (event: string, body: string) =>
    `CREATE TRIGGER IF NOT EXISTS "${name}_search_${event.toLowerCase()}" AFTER ${event} ON ${table} BEGIN ${body} END;`
  return [
    `CREATE VIRTUAL TABLE IF NOT EXISTS ${index} USING fts5 (title, text, content = '${name}', content_rowid = 'number', tokenize = '${tokenizer}');`,
    trigger('INSERT', add),
    trigger('DELETE', remove),
    trigger('UPDATE', remove + add),
  ].join('\n')
}
