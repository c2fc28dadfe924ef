/** The index that the search bench compares with: SQLite's FTS5 by libsql, given the same tokens and the same text. */

import { statSync } from 'node:fs'
import Database from 'libsql'
import { Analyzers } from '../src/search/words/analyzer.js'
import { normalized, Scanner } from '../src/search/words/scanner.js'
import type { CorpusDocument } from './search-corpus.js'

const analyzers = new Analyzers({ stemming: new Set(), segmenters: {} }, [])

/** The terms of a text, as Kumo indexes them, separated by spaces. */
export function tokens(text: string, language: string | undefined, isQuery = false): string {
  const plain = normalized(text)
  const analyzer = analyzers.of(language)
  const scanner = new Scanner(plain, language)
  const found: string[] = []
  while (scanner.next()) {
    if (isQuery && scanner.isLastOfRun) continue
    found.push(analyzer.term(plain.slice(scanner.start, scanner.end), scanner.kind))
  }
  return found.join(' ')
}

/** A row: what is stored, and the tokens of its fields. */
export interface Row {
  readonly stored: readonly [url: string, anchor: string, title: string, heading: string, text: string]
  readonly tokens: readonly [title: string, headings: string, body: string, path: string]
}

export function rowsOf({ url, title, language, sections }: CorpusDocument): Row[] {
  return sections.map(({ anchor = '', heading = '', path = [], text }) => ({
    stored: [url, anchor, title, heading, text],
    tokens: [
      tokens(title, language),
      tokens(heading, language),
      tokens(text, language),
      tokens(path.join(' '), language),
    ],
  }))
}

export class Fts5 {
  readonly #db: InstanceType<typeof Database>
  readonly #path: string
  readonly #put: [
    ReturnType<InstanceType<typeof Database>['prepare']>,
    ReturnType<InstanceType<typeof Database>['prepare']>,
  ]

  constructor(path: string) {
    this.#path = path
    this.#db = new Database(path)
    this.#db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
      CREATE TABLE docs (id INTEGER PRIMARY KEY, url TEXT, anchor TEXT, title TEXT, heading TEXT, text TEXT);
      CREATE INDEX docs_url ON docs (url);
      CREATE VIRTUAL TABLE fts USING fts5(title, headings, body, path, content='', contentless_delete=1,
        detail=full, tokenize="unicode61 remove_diacritics 0");`)
    this.#put = [
      this.#db.prepare('INSERT INTO docs (url, anchor, title, heading, text) VALUES (?, ?, ?, ?, ?)'),
      this.#db.prepare('INSERT INTO fts (rowid, title, headings, body, path) VALUES (?, ?, ?, ?, ?)'),
    ]
  }

  begin(): void {
    this.#db.exec('BEGIN')
  }

  commit(): void {
    this.#db.exec('COMMIT')
  }

  put(rows: readonly Row[]): void {
    for (const { stored, tokens: fields } of rows) {
      const { lastInsertRowid } = this.#put[0].run([...stored])
      this.#put[1].run([lastInsertRowid, ...fields])
    }
  }

  delete(url: string): void {
    const ids = this.#db.prepare('SELECT id FROM docs WHERE url = ?').all(url) as { id: number }[]
    for (const { id } of ids) {
      this.#db.prepare('DELETE FROM fts WHERE rowid = ?').run(id)
      this.#db.prepare('DELETE FROM docs WHERE id = ?').run(id)
    }
  }

  /** Ten hits with their text, by BM25 with the weights of Kumo's fields. */
  search(query: string): unknown[] {
    const match = query
      .split(' ')
      .filter((each) => each !== '')
      .map((each) => `"${tokens(each, undefined, true)}"`)
      .filter((each) => each !== '""')
      .join(' ')
    if (match === '') return []
    return this.#db
      .prepare(
        `SELECT docs.url, docs.anchor, docs.title, docs.heading, docs.text FROM
          (SELECT rowid, bm25(fts, 2, 6, 1, 1) AS score FROM fts WHERE fts MATCH ? ORDER BY score LIMIT 10) AS best
          JOIN docs ON docs.id = best.rowid`,
      )
      .all(match)
  }

  bytes(): number {
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    return statSync(this.#path).size
  }

  close(): void {
    this.#db.close()
  }
}
