/**
 * Keeps a row for each page in SQLite, with a full-text index, or in PostgreSQL. Needs the package libsql or pg.
 *
 *     npx tsx examples/to-a-database.ts https://example.com/ pages.db
 *     npx tsx examples/to-a-database.ts https://example.com/ postgres://localhost/crawl
 */

import { Crawler } from 'kumo'
import { postgres, sqlite } from 'kumo/sinks'

const [, , start = 'https://example.com/', where = 'pages.db'] = process.argv
const pages = where.startsWith('postgres') ? postgres(where) : sqlite(where, { search: 'words' })

await new Crawler().seeds(start).limit({ pages: 100 }).use(pages).run()
console.log(`${pages.stats().written} pages in ${where}`)
